/// Segments of memory, and batches of reads and writes between them and local memory.
@NullMarked
package io.penstock.wire.transfer;

import org.jspecify.annotations.NullMarked;
