/// The report of a replay as text, JSON and a page, and the figures that it is made from.
@NullMarked
package io.penstock.node.replay.report;

import org.jspecify.annotations.NullMarked;
