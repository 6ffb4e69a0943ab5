package io.penstock.gateway.events;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Where a publisher of KV events listens.
///
/// @param events address of its PUB socket, `tcp://HOST:PORT`
/// @param replay address of its ROUTER socket; null if it replays nothing
/// @param topic first bytes of the messages that are read; empty for all
/// @param countsCopies whether each copy of a block on a medium is reported once, as engines do; a node of this project
///   may repeat itself, so a medium of it has one copy
public record EventSource(String events, @Nullable String replay, String topic, boolean countsCopies) {
  private static final Pattern ADDRESS = Pattern.compile("tcp://(?:\\[[0-9A-Fa-f:.%]+]|[^\\s:/\\[\\]]+):([0-9]{1,5})");
  private static final int MAX_PORT = 65_535;

  public EventSource {
    port("events", events);
    if (replay != null) {
      port("replay", replay);
    }
  }

  /// A publisher of an engine.
  public static EventSource engine(String events, @Nullable String replay, String topic) {
    return new EventSource(events, replay, topic, true);
  }

  /// A publisher of a node of this project.
  public static EventSource node(String events, @Nullable String replay, String topic) {
    return new EventSource(events, replay, topic, false);
  }

  /// The publisher of a data-parallel rank. Its ports are those of the engine plus the number of the rank.
  public EventSource ofRank(int rank) {
    return new EventSource(moved("events", events, rank), replay == null ? null : moved("replay", replay, rank), topic,
        countsCopies);
  }

  private static String moved(String name, String address, int by) {
    int port = port(name, address);
    return address.substring(0, address.lastIndexOf(':') + 1) + (port + by);
  }

  private static int port(String name, String address) {
    Matcher matcher = ADDRESS.matcher(address);
    int port = matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("%s must be tcp://HOST:PORT (was %s)".formatted(name, address));
    }
    return port;
  }

  @Override
  public String toString() {
    return events;
  }
}
