# SPDX-License-Identifier: GPL-2.0
# compare.awk SHOWN PRINTED: whether what came is what the page shows, by the rule in
# docs/lab/README.md, and where not.

# What is another on each run, by its form.
function form(text,   column, at) {
	sub(/-[0-9]+ +\[[0-9]+\] [a-zA-Z0-9.]+ +[0-9]+\.[0-9]+: /, "-TASK: ", text)
	sub(/-[0-9]+ +entered [0-9.]+ [mun]?s ago/, "-TASK entered TIME ago", text)
	gsub(/0x[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/, "0xADDRESS", text)
	gsub(/ffff[0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/, "ADDRESS", text)
	gsub(/<[0-9.]+ [mun]s>/, "<SHORT>", text)
	gsub(/<[0-9.]+ s>/, "<SECONDS>", text)
	if (match(text, /^([^ ]+ +(call|entry|return)|total) +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9-]+$/)) {
		split(text, column)
		at = column[1] == "total" ? 2 : 3
		text = column[1] " " column[2] " HITS " column[at + 1] " FILTERED " column[at + 3] " " column[at + 4]
		if (at == 2) sub(/ [0-9]+ HITS/, " HITS", text)
	}
	gsub(/[ \t\r]+/, " ", text)
	gsub(/^ | $/, "", text)
	return text
}

function same(shown, printed,   parts, count, i, at) {
	count = split(shown, parts, /\.\.\./)
	if (count < 2) return shown == printed
	if (substr(printed, 1, length(parts[1])) != parts[1]) return 0
	printed = substr(printed, length(parts[1]) + 1)
	for (i = 2; i < count; i++) {
		at = index(printed, parts[i])
		if (!at) return 0
		printed = substr(printed, at + length(parts[i]))
	}
	at = length(printed) - length(parts[count]) + 1
	return at > 0 && substr(printed, at) == parts[count]
}

FILENAME == ARGV[1] { shown[++wanted] = form($0); next }
{ printed[++got] = form($0) }

END {
	i = j = 1
	while (j <= got) {
		if (i <= wanted && shown[i] == "...") { gap = i++; resume = j; continue }
		if (i <= wanted && same(shown[i], printed[j])) { i++; j++; if (i > furthest) furthest = i; continue }
		if (!gap) break
		i = gap + 1
		j = ++resume
	}
	while (i <= wanted && shown[i] == "...") i++
	if (i > wanted && j > got) exit 0
	if (furthest > i) i = furthest
	print "shown, line " i ": " (i > wanted ? "no more lines" : shown[i])
	exit 1
}
