package io.penstock.wire.client;

import io.penstock.tier.TierStat;
import io.penstock.wire.protocol.StatMessages;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Figures of a node at one moment: the answer to [KvClient#stat].
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
/// @param waitedMillis waits of streams since the node started, by culprit: `reader` and `writer` (a client is slow),
///     `budget` (other clients hold the byte budget), `rate`, `slots` (of memory), `tier`; empty if it did not tell
/// @param doors for clients of other protocols; empty if there is none, or if the node did not tell
public record ServerStat(String node, String tier, String medium, TierStat stat, long inFlightBytes,
    long peakInFlightBytes, long budgetBytes, @Nullable Long outgoingBytes, boolean draining,
    List<SpaceStat> spaces, Moved carried, Map<String, Long> waitedMillis, List<Door> doors) {
  public ServerStat {
    spaces = List.copyOf(spaces);
    doors = List.copyOf(doors);
    waitedMillis = Collections.unmodifiableMap(new TreeMap<>(waitedMillis));
  }

  /// A door for clients of another protocol.
  ///
  /// @param users what each user did since the door was opened: counts by their names; the empty user stands for
  ///     clients without credentials
  public record Door(String door, String address, int connections, Map<String, Map<String, Long>> users) {
    public Door {
      users = Collections.unmodifiableMap(new TreeMap<>(users));
    }
  }

  /// Bytes by the label of their carrier.
  ///
  /// @param in to the node
  /// @param out from the node
  public record Moved(Map<String, Long> in, Map<String, Long> out) {
    /// Figures of a node that does not report the carriers of its bytes.
    public static final Moved NONE = new Moved(Map.of(), Map.of());

    public Moved {
      in = Map.copyOf(in);
      out = Map.copyOf(out);
    }

    private static Moved of(StatMessages.Moved told) {
      return new Moved(told.in() == null ? Map.of() : told.in(), told.out() == null ? Map.of() : told.out());
    }
  }

  static ServerStat of(StatMessages.StatReply told) {
    List<StatMessages.SpaceFigures> spaces = told.spaces();
    StatMessages.Moved carried = told.carried();
    return new ServerStat(told.node(), told.tier(), told.medium(), told.stat().stat(), told.inFlightBytes(),
        told.peakInFlightBytes(), told.budgetBytes(), told.outgoingBytes(), told.draining(),
        spaces == null ? List.of() : spaces.stream().map(SpaceStat::of).toList(),
        carried == null ? Moved.NONE : Moved.of(carried),
        told.waitedMillis() == null ? Map.of() : told.waitedMillis(), doors(told.doors()));
  }

  private static List<Door> doors(@Nullable List<StatMessages.DoorFigures> told) {
    return told == null
        ? List.of()
        : told.stream().map(door -> new Door(door.door(), door.address(), door.connections(), door.users())).toList();
  }
}
