/// One verb each: stages are functions from `Flux` to `Flux`, composed with `transform`.
@NullMarked
package io.penstock.stage;

import org.jspecify.annotations.NullMarked;
