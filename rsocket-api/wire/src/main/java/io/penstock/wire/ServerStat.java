package io.penstock.wire;

import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Figures of a node at one moment: the reply of route `stat`.
///
/// @param tier name of the tier of the space that was asked for
/// @param medium of that tier
/// @param stat of that tier
/// @param inFlightBytes bytes in flight now, in and out
/// @param peakInFlightBytes most bytes ever in flight
/// @param budgetBytes limit on bytes in flight
/// @param outgoingBytes those of `inFlightBytes` that are on their way out; null if the node did not tell
/// @param spaces all spaces of the node; empty if the node did not tell
/// @param carried bytes of streams since the node started, by what carried them; empty if it did not tell
public record ServerStat(String node, String tier, String medium, TierStat stat, long inFlightBytes,
    long peakInFlightBytes, long budgetBytes, @Nullable Long outgoingBytes, boolean draining,
    List<SpaceStat> spaces, Moved carried) {
  public ServerStat {
    carried = carried == null ? Moved.NONE : carried;
    spaces = spaces == null ? List.of() : List.copyOf(spaces); // null from a node that does not tell
  }

  /// Of a node that does not tell what carried its bytes.
  public ServerStat(String node, String tier, String medium, TierStat stat, long inFlightBytes, long peakInFlightBytes,
      long budgetBytes, @Nullable Long outgoingBytes, boolean draining, List<SpaceStat> spaces) {
    this(node, tier, medium, stat, inFlightBytes, peakInFlightBytes, budgetBytes, outgoingBytes, draining, spaces,
        Moved.NONE);
  }

  /// Bytes by the label of their carrier.
  ///
  /// @param in to the node
  /// @param out from the node
  public record Moved(Map<String, Long> in, Map<String, Long> out) {
    static final Moved NONE = new Moved(Map.of(), Map.of());

    public Moved {
      in = in == null ? Map.of() : Map.copyOf(in);
      out = out == null ? Map.of() : Map.copyOf(out);
    }

    static Moved of(CarriedBytes bytes) {
      return new Moved(labelled(bytes.in()), labelled(bytes.out()));
    }

    private static Map<String, Long> labelled(Map<Carrier, Long> bytes) {
      Map<String, Long> labelled = new TreeMap<>();
      bytes.forEach((carrier, count) -> labelled.put(carrier.label(), count));
      return labelled;
    }
  }

  static ServerStat of(String node, TierInfo asked, List<SpaceStat> spaces, NodeBudget budget, boolean draining,
      CarriedBytes carried) {
    String id = asked.space().publicId();
    SpaceStat own = spaces.stream().filter(space -> space.space().equals(id) && space.tier().equals(asked.name()))
        .findFirst().orElseThrow();
    return new ServerStat(node, own.tier(), own.medium(), own.stat(), budget.permits().inUse(),
        budget.permits().peak(), budget.permits().capacity(), budget.outgoingBytes(), draining, spaces,
        Moved.of(carried));
  }
}
