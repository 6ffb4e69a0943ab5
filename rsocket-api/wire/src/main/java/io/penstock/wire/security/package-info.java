/// Who may talk to a node and what they may do: TLS, authentication at SETUP, and roles by cache space.
@NullMarked
package io.penstock.wire.security;

import org.jspecify.annotations.NullMarked;
