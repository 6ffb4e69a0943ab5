/// Stories that run: each example is a `main` with a fixed seed and a test that runs it.
@NullMarked
package io.penstock.examples;

import org.jspecify.annotations.NullMarked;
