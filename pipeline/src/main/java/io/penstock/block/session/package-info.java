/// Sessions: what a request says of the conversation that it belongs to, and the bounds of it.
@NullMarked
package io.penstock.block.session;

import org.jspecify.annotations.NullMarked;
