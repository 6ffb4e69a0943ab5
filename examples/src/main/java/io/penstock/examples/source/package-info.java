/// Bytes that can be made again, and the comparison with them.
@NullMarked
package io.penstock.examples.source;

import org.jspecify.annotations.NullMarked;
