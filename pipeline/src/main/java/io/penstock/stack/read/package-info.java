/// Leases of a stack and their streams: windows of blocks, from memory or read from stores.
@NullMarked
package io.penstock.stack.read;

import org.jspecify.annotations.NullMarked;
