package io.penstock.node.link;

import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;

/// Place of a node, and the transport to it.
///
/// @param place where it connects first
/// @param way `AUTO` and `UDS` switch to the node's Unix domain socket, if it is on this host
/// @param others nodes of the same cluster, to be asked if that one is away
/// @param pass credentials for the node
/// @param listener receives the connections to the node
public record NodeAddress(Endpoint place, Way way, List<Endpoint> others, NodePass pass, ConnectionListener listener) {
  /// Address of a node that asks for no credentials.
  NodeAddress(Endpoint place, Way way) {
    this(place, way, List.of(), NodePass.none(), ConnectionListener.noop());
  }

  public NodeAddress shown(NodePass other) {
    return new NodeAddress(place, way, others, other, listener);
  }

  /// Another node of the same credentials.
  NodeAddress at(Endpoint other) {
    return new NodeAddress(other, wayOf(other), List.of(), pass, listener);
  }

  /// With other nodes of the same cluster.
  public NodeAddress orAt(List<Endpoint> places) {
    return new NodeAddress(place, way, List.copyOf(places), pass, listener);
  }

  /// The nodes of a cluster that may be asked, the preferred one first.
  List<Endpoint> places() {
    return Stream.concat(Stream.of(place), others.stream()).toList();
  }

  /// With another listener.
  public NodeAddress heardBy(ConnectionListener other) {
    return new NodeAddress(place, way, others, pass, other);
  }

  /// Value of `--transport`.
  public enum Way {
    AUTO, TCP, UDS, WS;

    /// Converter for the command line.
    public static final class Converter implements ITypeConverter<Way> {
      @Override
      public Way convert(String text) {
        return Arrays.stream(values()).filter(way -> way.word().equals(text)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("--transport must be auto, tcp, uds or ws (was " + text
                + ")"));
      }
    }

    private String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// @param way null for that of the place
  /// @throws IllegalArgumentException if the place is of another transport than `way`
  public static NodeAddress of(Endpoint place, @Nullable Way way) {
    if (way == null || way == Way.AUTO) {
      return new NodeAddress(place, way == null ? wayOf(place) : way);
    }
    if (place.transport() == TransportKind.TCP) {
      return new NodeAddress(way == Way.WS ? new Endpoint(TransportKind.WS, place.address()) : place, way);
    }
    if (wayOf(place) != way) {
      throw new IllegalArgumentException(
          "--transport must be auto or " + wayOf(place).word() + " for --connect " + place
              + " (was " + way.word() + ")");
    }
    return new NodeAddress(place, way);
  }

  private static Way wayOf(Endpoint place) {
    return switch (place.transport()) {
      case TCP -> Way.TCP;
      case UDS -> Way.UDS;
      case WS -> Way.WS;
      case LOCAL -> throw new IllegalArgumentException(
          "address must be HOST:PORT, unix:PATH or ws://HOST:PORT (was " + place + ")");
    };
  }

  /// Whether a nearer socket is worth a look.
  boolean isBest() {
    return place.transport() == TransportKind.TCP && (way == Way.AUTO || way == Way.UDS);
  }

  /// @throws IllegalArgumentException if `reached` is not the wanted endpoint
  void require(Endpoint reached) {
    if (way == Way.UDS && reached.transport() != TransportKind.UDS) {
      throw new IllegalArgumentException(
          "--transport must be auto, tcp or ws for a node without a Unix domain socket that"
              + " this user can open here (was uds, the node at " + this + ")");
    }
  }

  /// Converter for the command line.
  public static final class Converter implements ITypeConverter<Endpoint> {
    @Override
    public Endpoint convert(String text) {
      return Endpoint.parse(text);
    }
  }

  @Override
  public String toString() {
    return place.toString();
  }
}
