/// The configuration of a node: the table of its settings, where their values are read, and the rules between them.
@NullMarked
package io.penstock.node.config;

import org.jspecify.annotations.NullMarked;
