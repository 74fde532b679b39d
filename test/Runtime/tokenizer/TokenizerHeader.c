/* The header is C11. */
#include "tessera/tokenizer.h"

int tokenizer_header_is_c(void);
int tokenizer_header_is_c(void) { return TSR_WITH_SPECIAL; }
