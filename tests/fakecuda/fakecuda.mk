# SPDX-License-Identifier: MIT
# A simulated driver, found by its soname: it lets the GPU engine's tests run on a machine without a GPU. It runs the
# kernels' own source, compiled for the host, and is the same for every build, without sanitizers.

FAKE       = build/fake/libcuda.so.1
FAKE_OLD   = build/fake/old/libcuda.so.1
FAKE_OBJ   = $(patsubst tests/fakecuda/%.c,build/fake/%.o,$(wildcard tests/fakecuda/*.c)) build/fake/kernels.o
FAKE_CXX   = -std=c++17 -D_GNU_SOURCE -Isrc -Wall -Wextra -Wshadow $(CPPFLAGS) $(CXXFLAGS) -Wno-unknown-pragmas \
	     -ffp-contract=off -fno-strict-aliasing -fno-extern-tls-init -fPIC
FAKE_FLAGS := $(call version,$(CC),1p) $(CC) $(TOOL_FLAGS) $(call version,$(CXX),1p) $(CXX) $(FAKE_CXX) $(LDFLAGS)
$(eval $(call stamp,build/fake/flags,FAKE_FLAGS,$(FLAGS)))

build/fake/%.o: tests/fakecuda/%.c build/fake/flags
	$(compile)
build/fake/%.o: COMPILE = $(TOOL_FLAGS) -Isrc -fPIC

build/fake/kernels.o: tests/fakecuda/kernels.cpp build/fake/flags
	$(call say,CXX)
	$(Q)$(CXX) $(FAKE_CXX) -MMD -MP -c -o $@ $(filter %.cpp,$^)

$(FAKE) $(FAKE_OLD): $(FAKE_OBJ)
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CXX) -shared -pthread $(FAKE_LINK) $(LDFLAGS) -o $@ $(FAKE_OBJ) -lm -ldl
$(FAKE): FAKE_LINK = -Wl,-z,defs
$(FAKE_OLD): FAKE_LINK = -Wl,--version-script=tests/fakecuda/old.map
$(FAKE_OLD): tests/fakecuda/old.map
