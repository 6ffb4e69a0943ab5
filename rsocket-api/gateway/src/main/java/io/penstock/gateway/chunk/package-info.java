/// One event of an engine's stream, read once for all that follow it.
@NullMarked
package io.penstock.gateway.chunk;

import org.jspecify.annotations.NullMarked;
