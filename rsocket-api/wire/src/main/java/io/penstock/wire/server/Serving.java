package io.penstock.wire.server;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.segment.ConnectionWrites;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.call.Turns;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.transfer.SegmentRegistry;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// What all connections of a server share.
///
/// @param turns of heavy requests
/// @param passwords runs comparisons of passwords
/// @param segments null on a node that serves none
/// @param staging slots for bytes of segments
/// @param kept ends requests that outlive their connections, when their callers lose the right to keep them
/// @param writes into segments, by the engine whose last connection runs them
record Serving(ServedSpaces spaces, KvServerOptions options, FairShares shares, Scheduler timers,
    Turns turns, Scheduler passwords, ByteBufAllocator allocator, BooleanSupplier draining, RunningStreams running,
    @Nullable SegmentRegistry segments, StagingSlots staging, DisaggServices disagg, HeldRights kept,
    Map<Long, ConnectionWrites> writes) {}
