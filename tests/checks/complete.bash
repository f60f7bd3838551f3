# SPDX-License-Identifier: GPL-2.0
# complete.bash - reads command lines, and writes what bash would complete each to: "== LINE",
# then the candidates, each for the whole last word. A blank at the end of LINE begins a word.
# shellcheck shell=bash disable=SC1091,SC2034

. /usr/share/bash-completion/bash_completion
. tool/packaging/completions/trapline.bash
compopt() { :; }

while IFS= read -r line; do
	# As readline cuts words.
	words=${line//:/ : }
	words=${words//=/ = }
	read -ra COMP_WORDS <<<"$words"
	[[ $words != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
	_trapline trapline "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	# What readline keeps of a word that has ':' or '=' in it.
	last=${line##* }
	kept=${last%"${last##*[:=]}"}
	echo "== $line"
	for candidate in "${COMPREPLY[@]}"; do echo "$kept$candidate"; done
done
