#!/usr/bin/env bash
# Installs PgBouncer 1.21 or newer for the tests with connection poolers: the package of this Debian release if it is new enough, otherwise the
# sources of a newer release, compiled into /usr/local/bin. Needs root and Debian.
set -euo pipefail
wanted=1.21
newer=trixie

is_new() { # program
  [ -x "$1" ] && printf '%s\n%s\n' "$wanted" "$("$1" --version | sed -n 's/^PgBouncer //p')" | sort -V -C
}
for program in "${PGBOUNCER-}" /usr/local/bin/pgbouncer /usr/sbin/pgbouncer; do is_new "$program" && exit; done

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends pgbouncer
is_new /usr/sbin/pgbouncer && exit
apt-get install -y -q --no-install-recommends dpkg-dev gcc make pkg-config libevent-dev libssl-dev

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work"/{state/lists/partial,cache/archives/partial}
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -m 1 debian.org || echo http://deb.debian.org/debian)
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $newer main" >"$work/sources.list"
# Separate package lists, so that the other packages of this machine keep their sources.
apart=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$work/state" -o "Dir::Cache=$work/cache")
cd "$work"
apt-get "${apart[@]}" update -q
apt-get "${apart[@]}" source -q pgbouncer
cd pgbouncer-*/
./configure --quiet --without-cares
make --silent -j"$(nproc)" pgbouncer
install pgbouncer /usr/local/bin/pgbouncer
is_new /usr/local/bin/pgbouncer
