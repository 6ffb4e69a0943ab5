/// Writes into a stack: reservations, commits, and receipts.
@NullMarked
package io.penstock.stack.write;

import org.jspecify.annotations.NullMarked;
