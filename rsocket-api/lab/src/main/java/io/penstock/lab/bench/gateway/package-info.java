/// What the gateway costs its requests, and what it does when more come than its engines can answer.
@NullMarked
package io.penstock.lab.bench.gateway;

import org.jspecify.annotations.NullMarked;
