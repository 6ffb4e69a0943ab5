/// The ledger of a stack: which block is on which level, which level works, and the events that follow.
@NullMarked
package io.penstock.stack.ledger;

import org.jspecify.annotations.NullMarked;
