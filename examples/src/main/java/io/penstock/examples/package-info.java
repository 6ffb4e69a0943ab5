/// Stories that run: each example is a command with a fixed seed and a test that runs it.
@NullMarked
package io.penstock.examples;

import org.jspecify.annotations.NullMarked;
