/// What all commands share: the console, exit codes, tables and JSON.
@NullMarked
package io.penstock.node.cli;

import org.jspecify.annotations.NullMarked;
