# SPDX-License-Identifier: GPL-2.0
# complete.fish - as complete.bash, for fish.

source tool/packaging/completions/trapline.fish
while read --local line
    echo "== $line"
    complete -C "$line" | string replace --regex '\t.*' ''
end
exit 0
