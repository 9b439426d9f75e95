#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Builds ./incast and ./fabric against the ns-3 of the PyPI wheel, installed into a virtual environment of its own here.
# Needs Python 3.9 or later, g++ with C++20, 500 MB of disk and, the first time, the network.
#
# --no-deps: the wheel's other requirement, cppyy, is for ns-3's Python bindings, which we do not use.
set -eu
cd "$(dirname "$0")"
version=3.44
if [ ! -x .venv/bin/python ]; then
    "${PYTHON:-python3}" -m venv .venv
fi
if ! .venv/bin/python -c "import importlib.metadata as m; assert m.version('ns3').startswith('$version.')" 2>/dev/null; then
    .venv/bin/python -m pip install --quiet --no-deps "ns3==$version.post0"
fi
ns3=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib") + "/ns3")')
lib=$ns3/lib64
# ns-3.36, for ./incast-3.36: NS3_36 is its source, built with `cmake -DCMAKE_BUILD_TYPE=release`.
if [ -n "${NS3_36:-}" ]; then
    "${CXX:-g++}" -std=c++17 -O2 -Wall -Wextra -DNS3_36 -DNS3_BUILD_PROFILE_RELEASE \
        -isystem "$NS3_36/build/include" incast.cc pfdct.cc -o incast-3.36 \
        -L"$NS3_36/build/lib" -Wl,-rpath,"$NS3_36/build/lib" -lns3.36-core -lns3.36-network -lns3.36-internet \
        -lns3.36-point-to-point -lns3.36-traffic-control -lns3.36-stats -lns3.36-bridge
fi
# The wheel is a release build with logs and asserts on; the definitions keep its headers consistent with it.
for sources in "incast.cc pfdct.cc" fabric.cc; do
    "${CXX:-g++}" -std=c++20 -O2 -Wall -Wextra \
        -DNS3_LOG_ENABLE -DNS3_ASSERT_ENABLE -DNS3_BUILD_PROFILE_RELEASE \
        -isystem "$ns3/include" $sources -o "${sources%%.*}" \
        -L"$lib" -Wl,-rpath,"$lib" -Wl,--allow-shlib-undefined \
        -lns3.44-core -lns3.44-network -lns3.44-internet -lns3.44-point-to-point -lns3.44-traffic-control \
        -lns3.44-stats -lns3.44-bridge
done
