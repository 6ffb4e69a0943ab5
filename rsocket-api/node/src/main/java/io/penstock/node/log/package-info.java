/// The log of a process: a peer controls neither its length nor its characters.
@NullMarked
package io.penstock.node.log;

import org.jspecify.annotations.NullMarked;
