package io.penstock.node.recording;

import io.penstock.node.play.EventView;
import io.penstock.node.play.TierWatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The state of played tiers after some events: what an invariant is asked of, and what a command gets as JSON.
///
/// @param recording that is played
/// @param events that were played, all of whole turns
/// @param nanos time of the last turn after the first
/// @param equal whether the playing was equal to the recording so far
/// @param difference the first; null if there is none
/// @param recovered blocks that stores had kept from before
/// @param turn events of the last turn
/// @param tiers that are open
record PlayedState(String recording, long events, long nanos, boolean equal, @Nullable String difference,
    long recovered, List<EventView> turn, List<TierWatch.State> tiers) {}
