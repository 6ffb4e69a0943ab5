/// The command `penstock gateway`: settings, and what is built from them.
@NullMarked
package io.penstock.gateway;

import org.jspecify.annotations.NullMarked;
