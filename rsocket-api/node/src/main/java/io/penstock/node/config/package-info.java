/// What a node is told: sizes, the table of settings, and where each value came from.
@NullMarked
package io.penstock.node.config;

import org.jspecify.annotations.NullMarked;
