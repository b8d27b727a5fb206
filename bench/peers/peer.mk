# For the Makefile of a peer, which says PACKAGE and how each of its PROGRAMS is made: they go to $(OUT). Libraries are linked
# statically, as ours is: calls through a table would cost them a nanosecond each.
BUILD   ?= $(abspath ../../../build)
OUT     := $(BUILD)/bench/peers
CFLAGS  := -std=c17 -D_GNU_SOURCE= -O2 -g -Wall -Wextra -Werror -I..
CXXFLAGS := -std=c++17 -O2 -g -Wall -Wextra -Werror -I..
# Its version, as Debian has it.
VERSION  = -DVERSION='"$(shell dpkg-query -W -f '$${Version}' $(PACKAGE))"'

.PHONY: all
all: $(PROGRAMS:%=$(OUT)/%)

$(OUT)/%: loops.c ../loops.h
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) $(VERSION) -o $@ $< $(LIBS)

# A crate of its own, with a lock file of its own: what it depends on is nobody else's business.
$(OUT)/rust-%: src/main.rs ../peer.rs Cargo.toml Cargo.lock
	@mkdir -p $(@D)
	@cargo build --release --quiet --locked --target-dir $(BUILD)/bench/cargo
	@cp $(BUILD)/bench/cargo/release/peer-$* $@
