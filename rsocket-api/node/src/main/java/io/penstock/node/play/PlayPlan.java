package io.penstock.node.play;

import org.jspecify.annotations.Nullable;

/// How a recording is played.
///
/// @param until the last place that is played; null for the end
/// @param flow whose events are shown; null for none
/// @param breakAt the place before which the playing ends, with the state of the tiers; null for none
/// @param times how often
/// @param speed 0 for virtual time, 1 for the recorded time, 2 for twice as fast
record PlayPlan(@Nullable PlayPoint until, @Nullable String flow, @Nullable PlayPoint breakAt, int times,
    double speed) {}
