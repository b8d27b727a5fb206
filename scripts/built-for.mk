# Given FOLDER, that of the sources, and OUT: BUILT_FOR is a file that is new where what lies in OUT was built for other places.
# The lists of headers that compilers write name both; in a copy of everything they are those of the original, and what changes here
# would be built of old parts.

BUILT_FOR := $(OUT)/built-for
ifneq ($(file <$(BUILT_FOR)),$(FOLDER) $(OUT))
  $(shell mkdir -p $(OUT) && echo $(FOLDER) $(OUT) >$(BUILT_FOR))
endif
