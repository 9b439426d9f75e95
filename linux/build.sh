#!/usr/bin/env bash
# Builds what the Linux backend runs: Linux as a program in virtual time, its modules (links, congestion controls), and the guest.
#
#   linux/build.sh            everything that is not up to date, into $FANIN_LINUX (default ~/.cache/fanin/linux)
#   HZ="1000" linux/build.sh  only the kernel with this tick (default: 1000 and 250)
#   DEBUG=1 linux/build.sh    a kernel that looks for faults of modules (debug.config), into the folder debug there
#   LINUX_SOURCE=FOLDER       the kernel's sources, in place of Debian's linux-source-6.12
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${FANIN_LINUX:-${XDG_CACHE_HOME:-$HOME/.cache}/fanin/linux}
cache=$folder${DEBUG:+/debug}
configs=("$here/kernel.config" ${DEBUG:+"$here/debug.config"})
archive=/usr/src/linux-source-6.12.tar.xz
jobs=$(nproc)

say() { printf 'linux: %s\n' "$*"; }

for tool in gcc make flex bison bc xz patch; do
	command -v "$tool" >/dev/null || { say "needs $tool: apt-get install gcc make flex bison bc xz-utils patch"; exit 1; }
done

# The kernel's random numbers begin with its version, which has the time of its build. Without these, each build would be
# another kernel.
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_USER=fanin KBUILD_BUILD_HOST=fanin

# What decides how the kernel is built.
wanted=$(cat "$here/virtual-time.patch" "${configs[@]}" "$here/build.sh" | sha256sum | cut -c1-16)
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9

prepare_source() {
	local source=$cache/source
	[ "$(cat "$source/.fanin" 2>/dev/null)" = "$wanted" ] && return
	rm -rf "$source" "$cache"/build-*
	mkdir "$source"
	if [ -n "${LINUX_SOURCE:-}" ]; then
		say "copying $LINUX_SOURCE"
		cp -r "$LINUX_SOURCE/." "$source"
		make -s -C "$source" ARCH=um mrproper
	elif [ -e "$archive" ]; then
		say "unpacking $archive"
		tar -xf "$archive" -C "$source" --strip-components=1
	else
		say "needs the kernel's sources: apt-get install linux-source-6.12, or LINUX_SOURCE=FOLDER"
		exit 1
	fi
	patch -s -p1 -d "$source" <"$here/virtual-time.patch"
	echo "$wanted" >"$source/.fanin"
}

# Counts the files that make compiles: of about $1.
count() { awk -v all="$1" '/^  (CC|AR|LD|CHK|GEN)/ { n++; if (n % 100 == 0) { printf "linux: %d of about %d files\n", n, all; fflush() } }'; }

# Keeps what a kernel says in the file "said" beside it.
keep_said() {
	mv "$1/linux" "$1/kernel"
	printf '#!/bin/sh\n"%s/kernel" "$@" 2>&1 | tee -a "%s/said"\n' "$1" "$1" >"$1/linux"
	chmod +x "$1/linux"
}

build_kernel() {
	local hz=$1 build=$cache/build-$1 to=$cache/hz$1
	local in_source=(make -C "$cache/source" ARCH=um O="$build" -j"$jobs")
	if [ "$(cat "$to/built" 2>/dev/null)" != "$wanted" ]; then
		say "kernel with HZ=$hz: about five minutes on two cores"
		mkdir -p "$build" "$to"
		rm -f "$to/built"
		"${in_source[@]}" -s tinyconfig
		{ cat "${configs[@]}"; echo "CONFIG_HZ=$hz"; } >"$build/fragment"
		(cd "$build" && "$cache/source/scripts/kconfig/merge_config.sh" -m -O "$build" "$build/.config" "$build/fragment") >/dev/null
		"${in_source[@]}" -s olddefconfig
		while read -r line; do
			case $line in CONFIG_*) grep -qx "$line" "$build/.config" || { say "the kernel has no $line"; exit 1; } ;; esac
		done <"$build/fragment"
		# Modules are asked for because module symbols come with them.
		"${in_source[@]}" linux modules | count 1100
		strip -o "$to/linux" "$build/linux"
		[ -z "${DEBUG:-}" ] || keep_said "$to"
		cp "$build/.config" "$to/config"
		make -s -C "$cache/source" ARCH=um O="$build" kernelrelease >"$to/release"
		echo "$wanted" >"$to/built"
	fi
	mkdir -p "$build/modules"
	cp -u "$here"/modules/* "$build/modules"
	"${in_source[@]}" -s M="$build/modules" modules
	for module in "$build"/modules/*.ko; do strip --strip-debug -o "$to/${module##*/}" "$module"; done
	"$here/sources.sh" >"$to/sources"
}

build_guest() {
	say "guest"
	# Static: the guest's root holds nothing but the guest.
	RUSTFLAGS="-C target-feature=+crt-static" cargo build --quiet --manifest-path "$here/../Cargo.toml" --locked --release \
		--package fanin-guest --target "$(rustc -vV | sed -n 's/host: //p')" --target-dir "$folder/guest-target"
	cp "$folder"/guest-target/*/release/guest "$cache/guest"
	"$here/sources.sh" >"$cache/sources"
}

prepare_source
all=${DEBUG:+1000}
for hz in ${HZ:-${all:-1000 250}}; do build_kernel "$hz"; done
build_guest
say "ready in $cache"
