#!/bin/sh
# The steps of docker/Dockerfile, which runs it in both of its stages.
#
#   build.sh build SOURCE OUT   compile SOURCE; lay out under OUT what the image adds to its base
#   build.sh runtime ROOT       in the image itself: libraries that the program needs, its user, its folder
set -eu

build() {
  source=$1 out=$2
  cd "$source"
  bash scripts/setup --build-only
  cmake --preset release -Wno-dev
  cmake --build --preset release --target penstock penstock-worker
  DESTDIR=$out cmake --install build/release --prefix /usr --strip
  install -D -m 0644 docker/penstock.yaml "$out/etc/penstock/penstock.yaml"
  install -D -m 0755 docker/build.sh "$out/usr/lib/penstock/build.sh"
  # The packages that own the libraries which the program loads; a base of another Debian names them differently.
  ldd "$out/usr/bin/penstock" "$out/usr/bin/penstock-worker" | awk '$2 == "=>" { print $3 }' | while read -r library; do
    dpkg-query -S "$library" 2>/dev/null || dpkg-query -S "$(readlink -f "$library")" 2>/dev/null ||
      dpkg-query -S "${library#/usr}" || dpkg-query -S "/usr$library"
  done | sed 's/:.*//' | sort -u >"$out/usr/lib/penstock/packages"
  [ -s "$out/usr/lib/penstock/packages" ]
}

runtime() {
  apt-get -qq update
  # shellcheck disable=SC2046
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends ca-certificates \
    fontconfig fonts-dejavu-core fonts-droid-fallback fonts-noto-core fonts-noto-color-emoji poppler-utils $(cat /usr/lib/penstock/packages)
  fc-cache -f
  rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
  useradd --uid 10001 --no-create-home --user-group --home-dir /var/lib/penstock --shell /usr/sbin/nologin penstock
  install -d -o penstock -g penstock -m 0750 /var/lib/penstock /var/lib/penstock/workspace
  penstock check /etc/penstock/penstock.yaml
}

command=$1
shift
case $command in
build | runtime) "$command" "$@" ;;
*) echo "build.sh: build or runtime" >&2 && exit 2 ;;
esac
