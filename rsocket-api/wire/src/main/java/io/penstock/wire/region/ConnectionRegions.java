package io.penstock.wire.region;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.transport.ConnectionGauges;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// The regions that a node has mapped for one connection, by their numbers. Safe from any thread.
public final class ConnectionRegions {
  /// Most regions of a connection.
  private static final int MOST = 64;

  private final @Nullable RegionFolder folder;
  private final long process;
  @GuardedBy("this") private final Map<Long, ClientRegion> regions = new HashMap<>();
  @GuardedBy("this") private long last;
  @GuardedBy("this") private boolean closed;

  /// @param folder null on a node that maps no regions
  /// @param process of the peer, as in [ConnectionGauges#peerProcess]
  public ConnectionRegions(@Nullable RegionFolder folder, long process) {
    this.folder = folder;
    this.process = process;
  }

  @Nullable RegionFolder folder() {
    return folder;
  }

  /// Maps a file, and gives it a number.
  ///
  /// @param blockBytes of the blocks that are to lie in its slots
  RegionMessages.RegionReply map(RegionFolder from, RegionMessages.RegionRequest asked, int blockBytes) {
    if (process == ConnectionGauges.NO_PROCESS) {
      throw WireFormatException.request("region",
          "asked for by a process of the node's user, over its Unix domain socket", "asked for by another");
    }
    ClientRegion mapped = ClientRegion.map(from.path(), asked);
    try {
      mapped.requireFits(blockBytes);
      return new RegionMessages.RegionReply(enter(mapped), mapped.slots());
    } catch (RuntimeException | Error e) {
      mapped.release();
      throw e;
    }
  }

  private synchronized long enter(ClientRegion mapped) {
    if (closed || regions.size() >= MOST) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "regions of a connection", "<= " + MOST,
          closed ? "asked for by one that is gone" : "another");
    }
    regions.put(++last, mapped);
    return last;
  }

  synchronized ClientRegion region(long number) {
    ClientRegion known = regions.get(number);
    if (known == null) {
      throw WireFormatException.request("region", "one of this connection", number);
    }
    return known;
  }

  /// The connection is gone, and its requests were cancelled: each region ends when no copy touches it any more.
  public void close() {
    List<ClientRegion> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(regions.values());
      regions.clear();
    }
    RegionFolder from = folder;
    if (from == null || all.isEmpty()) {
      return;
    }
    try {
      var _ = from.copies().schedule(() -> all.forEach(ClientRegion::release)); // unmaps, which takes a while
    } catch (RejectedExecutionException e) { // the node ends
      all.forEach(ClientRegion::release);
    }
  }
}
