# SPDX-License-Identifier: GPL-2.0
# Takes a page's ```console blocks apart: for each "guest# COMMAND" (continued by "> "
# lines) a file N.command, N.shown with the lines under it, and N.line with its number.

function put(what, text) { printf "%s", text > (file what); close(file what) }

function finish() {
	if (!steps || !open) return
	put(".command", command)
	put(".shown", shown)
	put(".line", line)
	open = 0
}

/^```console$/ { block = 1; next }
/^```/ { finish(); block = 0; next }
!block { next }
/^guest# / {
	finish()
	file = sprintf("%s/%03d", directory, ++steps)
	command = substr($0, 8) "\n"
	shown = ""
	line = NR
	open = 1
	next
}
!open { print FILENAME ":" NR ": no command above this line"; bad = 1; next }
/^> / && shown == "" { command = command substr($0, 3) "\n"; next }
{ shown = shown $0 "\n" }

END {
	finish()
	if (!steps) print FILENAME ": no commands"
	exit bad || !steps
}
