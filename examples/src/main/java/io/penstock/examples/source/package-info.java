/// Bytes that can be made again to be compared.
@NullMarked
package io.penstock.examples.source;

import org.jspecify.annotations.NullMarked;
