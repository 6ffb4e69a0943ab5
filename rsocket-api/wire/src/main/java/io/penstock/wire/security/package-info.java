/// Security of a node: TLS, authentication at SETUP, and roles by cache space.
@NullMarked
package io.penstock.wire.security;

import org.jspecify.annotations.NullMarked;
