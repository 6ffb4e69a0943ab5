package io.penstock.cluster.directory;

import java.util.function.LongSupplier;
import reactor.core.scheduler.Scheduler;

/// What announcements of all tiers of a node share.
///
/// @param numbers gives a number for each round: random, not 0, and never one twice in the cluster
/// @param timers for what is done after a while; never used for work
public record AnnounceParts(SharedMap map, BlockNames names, Rounds rounds, Pace pace, AnnounceTerms terms,
    LongSupplier numbers, Scheduler timers) {}
