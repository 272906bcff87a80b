#!/bin/sh
# SPDX-License-Identifier: MIT
# A newcomer's first ten minutes: newcomer.sh [--packages] FOLDER. Each package of FOLDER gets a
# root that has a minimal system: apt installs it alone, with what it says it depends on, and its
# first commands are typed. Then, in a root with compilers and pkg-config, the library is installed
# from FOLDER (packages libpawl1 and libpawl-dev, or an installed tree), and each start is typed as
# its page says. --packages: without the starts, and without what pawl-bench recommends.
# mmdebstrap makes the minimal root once, and the others from its archive, in a user namespace where
# this is not root. Exit code 77: no root could be made here, and the last line says why.
#
# The start for Rust needs a checkout beside it, as its page says, and crates. cargo fetches those
# for a newcomer; here they come along, since the root may be without a network. Where this machine
# has no cargo that could hand them over, that start is left out, and a line says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
starts=yes
[ "${1-}" != --packages ] || { starts=; shift; }
from=${1:?newcomer.sh [--packages] FOLDER: a folder with Debian packages, or an installed tree}
command -v mmdebstrap >/dev/null || {
    echo "skipped: mmdebstrap is not installed; run scripts/setup newcomer"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/starts/out"

if [ -n "$(find "$from" -maxdepth 2 -name 'libpawl*.deb')" ]; then
    mkdir "$work/starts/packages"
    find "$from" -maxdepth 2 -name '*pawl*.deb' ! -name '*-dbgsym_*' \
        -exec cp {} "$work/starts/packages" \;
    (
        cd "$work/starts/packages"
        for one in *.deb; do
            dpkg-deb -f "$one"
            echo "Filename: ./$one"
            echo "Size: $(wc -c <"$one")"
            echo "SHA256: $(sha256sum "$one" | cut -d' ' -f1)"
            echo
        done >Packages
    )
    echo "installed from: $(cd "$work/starts/packages" && echo *.deb)"
elif [ -d "$from/include/pawl" ]; then
    cp -a "$from" "$work/starts/prefix"
    echo "installed from: a tree with $(find "$from/lib" -name 'libpawl*' | wc -l) files in lib"
else
    echo "newcomer.sh: $from holds neither Debian packages libpawl* nor include/pawl" >&2
    exit 2
fi
pages=$work/starts/pages
bring_starts() {
for page in "$source"/doc/start/*.md; do
    name=$(basename "$page" .md)
    [ "$name" != README ] || continue
    mkdir -p "$pages/$name"
    python3 "$here/start_page.py" "$page" "$pages/$name"
done

compilers='gcc g++ libc6-dev pkgconf'
wanted=$(ls "$pages" | wc -l)
[ "$wanted" -ge 6 ] || { echo "newcomer.sh: doc/start has $wanted pages, not six" >&2; exit 1; }
mkdir "$pages/.cargo"
if (cd "$source" && cargo vendor --locked --offline --quiet --manifest-path rust/Cargo.toml \
    "$work/starts/crates") >/dev/null 2>"$work/cargo"; then
    compilers="$compilers rustc-web cargo-web"
    cat >"$pages/.cargo/config.toml" <<'END'
[source.crates-io]
replace-with = "brought"
[source.brought]
directory = "/starts/crates"
END
    # The checkout: what git knows of it, or all but what a build makes.
    mkdir "$pages/pawl"
    if git -C "$source" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        (cd "$source" && git ls-files -z --cached --others --exclude-standard |
            tar -c --null --ignore-failed-read -T -) | tar -x -C "$pages/pawl"
    else
        (cd "$source" && tar -c rust include src) | tar -x -C "$pages/pawl"
    fi
else
    echo "rust: left out, cargo has no crates to hand over ($(head -n 1 "$work/cargo"))"
    rm -rf "$pages/rust"
    wanted=$((wanted - 1))
fi
}

# Runs inside: no Python, no diff, no git. Says what it did, and ends with "starts: N of M".
cat >"$work/starts/starts" <<'END'
apt-get install -y --no-install-recommends "$@" >apt 2>&1 || tail -n 20 apt
if [ -d packages ]; then
    dpkg -i packages/libpawl*.deb >/dev/null || echo "dpkg -i failed"
else
    cp -a prefix/. /usr/local/
    ldconfig
fi
good=0 all=0
for page in pages/*; do
    name=${page#pages/}
    [ -e "$page/commands" ] || continue # the checkout
    all=$((all + 1))
    (cd "$page" && sh -e ./commands) >"$page/printed" 2>&1 || echo "$name: a command failed"
    if cmp -s "$page/printed" "$page/expected"; then
        good=$((good + 1))
        echo "$name: as its page says"
    else
        echo "$name: it printed something else:"
        tail -n 40 "$page/printed"
    fi
done
echo "starts: $good of $all"
END

# In a package's own root: run as package PACKAGE, it ends with "PACKAGE: N of M". The programs that
# README names come along, and pawl-bench with what it recommends.
cat >"$work/starts/package" <<'END'
package=$1 starts=${2-} with=--no-install-recommends
good=0 all=0
try() { # pattern in what it prints, command...
    all=$((all + 1))
    pattern=$1
    shift
    if yes 1 2>/dev/null | "$@" >said 2>&1 && grep -q "$pattern" said; then
        good=$((good + 1))
        echo "$*: as expected"
    else
        echo "$*: it failed, or printed nothing like '$pattern':"
        tail -n 20 said
    fi
}
manual() {
    apt-get install -y --no-install-recommends man-db >apt 2>&1 || tail -n 20 apt
    export MANPAGER=cat PAGER=cat MANROFFOPT=-c
}
# apt finds what the package says it depends on, or it says too little.
echo "deb [trusted=yes] file:/starts/packages ./" >/etc/apt/sources.list.d/starts.list
apt-get update -o Dir::Etc::sourcelist=sources.list.d/starts.list -o Dir::Etc::sourceparts=- \
    -o APT::Get::List-Cleanup=0 >apt 2>&1 || tail -n 20 apt
[ "$package-$starts" != pawl-bench-yes ] || with=--install-recommends
apt-get install -y $with "$package" >apt 2>&1 || tail -n 20 apt
site=/usr/share/doc/pawl-doc/html
case $package in
libpawl-dev)
    apt-get install -y --no-install-recommends gcc libc6-dev pkgconf >apt 2>&1 || tail -n 20 apt
    try '^60000 ' sh -c 'cc $(pkg-config --cflags pawl) -o out/program consumer.c \
        $(pkg-config --libs pawl) -pthread && out/program'
    ;;
libpawl1) try '^60000 ' out/program ;;
pawl)
    apt-get install -y --no-install-recommends openssl >apt 2>&1 || tail -n 20 apt
    manual
    try '^pawl' pawl --version
    try 'doc/' pawl choose
    try '^OpenSSL ' pawl run openssl version
    try '[1-9][0-9,]* *read locks' pawl run --stats openssl version
    try 'pawl.trace: processes 1' pawl trace openssl version
    try '^Recorded .*: openssl' pawl advise
    try 'pawl run' man pawl
    ;;
pawl-bench)
    try 'pawl_lock' pawl bench pairs --rounds 6 --seconds 0.001 --json pairs.json
    if [ "$starts" ]; then
        try '<title>' sh -c 'pawl report pairs.json --html page.html --png p.png && cat page.html'
        try 'pawl.trace: processes 1' pawl trace perl -e 1
        try '<title>' sh -c 'pawl advise --html advice.html && cat advice.html'
    fi
    ;;
pawl-doc)
    manual
    try 'pawl_lock' man 7 pawl
    try 'pawl_lock32_take_read' man 3 pawl_lock
    try 'pawl_lock32_take_read' man pawl_lock32_take_read
    try '<title>' cat $site/index.html
    try '^whole' sh -c "find $site -type l | grep . || echo whole"
    ;;
*) try "no first command is known of $package" false ;;
esac
echo "$package: $good of $all"
END

suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
# Of the machine's lists of servers those of Debian itself, not of others who pack for it.
set --
for one in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    if grep -qsE "^(Suites:|deb .*) $suite( |\$)" "$one"; then
        set -- "$@" "$one"
    fi
done
[ $# -gt 0 ] || { echo "skipped: no list of $suite's servers in /etc/apt"; exit 77; }
# The commands get no variable of this machine, but apt the way to its servers.
clean='env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive '
clean=$clean'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'
for one in http_proxy https_proxy no_proxy; do
    eval "value=\${$one-}"
    [ -z "$value" ] || clean="$clean $one=$value"
done
echo "$ mmdebstrap --variant=minbase $suite"
mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --skip=cleanup/apt/lists \
    "$suite" "$work/minimal.tar" "$@" >"$work/log" 2>&1 || {
    echo "skipped: no clean root could be made here: $(tail -n 1 "$work/log")"
    exit 77
}
in_own_root() { # its name, a command before the others, a file of starts and its arguments
    mkdir "$work/$1"
    root=$work/$1 brought=$2
    shift 2
    mmdebstrap --quiet --variant=custom --format=null --skip=update,check/empty \
        --setup-hook="tar -C \"\$1\" --exclude=./dev -xf '$work/minimal.tar'" \
        --customize-hook="copy-in $work/starts /" --customize-hook="$brought" \
        --customize-hook="$clean chroot \"\$1\" sh -c 'cd /starts && sh ./$*' \
            >\"\$1/starts/out/said\" 2>&1 || true" \
        --customize-hook="copy-out /starts/out $root" \
        "$suite" /dev/null $lists >"$root/log" 2>&1 || true
    [ -s "$root/out/said" ] || { mkdir -p "$root/out"; tail -n 3 "$root/log" >"$root/out/said"; }
}
lists=$*
packages=
for one in libpawl-dev libpawl1 pawl pawl-bench pawl-doc; do
    ls "$work/starts/packages/${one}"_* >/dev/null 2>&1 && packages="$packages $one"
done
cp "$here/consumer.c" "$work/starts"
# Two at a time: the program that libpawl-dev builds is the first that libpawl1 runs.
program="copy-in $work/libpawl-dev/out /starts"
(
    case $packages in *-dev*) in_own_root libpawl-dev true package libpawl-dev ;; esac
    for one in libpawl1 pawl-doc; do
        case $packages in *" $one"*) in_own_root $one "$program" package $one ;; esac
    done
) &
for one in pawl pawl-bench; do
    case "$packages " in *" $one "*) in_own_root $one true package $one $starts ;; esac
done
wait
if [ "$starts" ]; then
    bring_starts
    in_own_root starts true starts $compilers
fi
for one in $packages ${starts:+starts}; do
    cat "$work/$one/out/said"
done
# The site's search from the unpacked package, in this machine's browser: no server, no root.
site=$(find "$from" -maxdepth 2 -name 'pawl-doc_*.deb' | head -n 1)
browser=$(command -v chromium || command -v chromium-browser || true)
if [ -n "$site" ] && [ -n "$browser" ]; then
    dpkg-deb -x "$site" "$work/doc"
    "$browser" --headless --no-sandbox --disable-gpu --no-first-run --virtual-time-budget=8000 \
        --disable-background-networking --user-data-dir="$work/profile" --dump-dom \
        "file://$work/doc/usr/share/doc/pawl-doc/html/search.html?q=pawl_lock64_seek_to_write" \
        >"$work/found" 2>"$work/browser" || true
    grep -q 'reference/lock.html#c.pawl_lock64_seek_to_write' "$work/found" || {
        echo "failed: the site's search finds no function: $(tail -n 1 "$work/browser")" >&2
        exit 1
    }
    echo "search: it finds a function"
fi
for one in $packages ${starts:+starts}; do
    last=$(tail -n 1 "$work/$one/out/said")
    good=$(echo "$last" | sed -n "s/^$one: \([1-9][0-9]*\) of \1\$/\1/p")
    [ "$good" ] && { [ $one != starts ] || [ "$good" = "$wanted" ]; } || {
        echo "failed: $one: $last" >&2
        exit 1
    }
done
