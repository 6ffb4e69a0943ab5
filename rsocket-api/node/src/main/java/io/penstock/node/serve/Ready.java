package io.penstock.node.serve;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.CacheSpace;
import io.penstock.check.InternetAddress;
import io.penstock.node.admin.TransportState;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeRank;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RankSettings;
import io.penstock.node.config.SecuritySettings;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.kvevents.KvEventsPublisher;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Json;
import io.penstock.node.text.Plural;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Report of a node that is ready, for programs that wait for it.
///
/// @param port of TCP
/// @param transports each that was wanted, the preferred one first
/// @param endpoints for clients on other hosts, or behind `advertise.towards`
/// @param adminPort null if the admin endpoints are off
/// @param adminTls whether the admin endpoints have TLS
/// @param kvEventPorts of KV events of the first space: events, then replay; empty if they are off
/// @param kvEvents publications of KV events, one for each space; absent if they are off
/// @param model with `space`, `layout` and `blockBytes`: of the first space where the node has several
/// @param space of the blocks, as their keys begin; empty for one with a salt
/// @param layout of a block, as [LayoutSettings#words] writes it
/// @param spaces a line for each of several spaces, as [SpaceSettings#words] writes it; null if there is one
/// @param rank null for a node that is no rank
/// @param cluster null for a node that is in none
/// @param doors for clients of other protocols; absent if there is none
record Ready(String host, int port, List<TransportState> transports, List<String> endpoints,
    @Nullable String adminHost, @Nullable Integer adminPort, boolean adminTls,
    List<Integer> kvEventPorts, @JsonInclude(JsonInclude.Include.NON_EMPTY) List<KvEvents> kvEvents, String model,
    String space, String layout, int blockBytes,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<String> spaces,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable OfRank rank,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable OfCluster cluster,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<OfDoor> doors, long pid) {
  private static final Logger LOG = LoggerFactory.getLogger(Ready.class);

  /// The rank that the node is.
  ///
  /// @param side `prefill` or `decode`
  /// @param instance that the rank belongs to
  /// @param ranks of the instance
  /// @param registry at which it registers; null for none
  record OfRank(String side, String instance, int number, int ranks, @Nullable String registry) {
    static OfRank of(NodeRank rank, @Nullable String registry) {
      return new OfRank(rank.side().name().toLowerCase(Locale.ROOT), rank.rank().instance(), rank.rank().rank(),
          rank.ranks(), registry);
    }

    /// `prefill rank 0 of instance p, which has 2 ranks; registry 10.0.0.5:7733`.
    private String words() {
      return "%s rank %d of instance %s, which has %s; %s".formatted(side, number, instance, Plural.of(ranks, "rank"),
          registry == null ? "no registry" : "registry " + registry);
    }
  }

  /// The cluster that the node is in.
  ///
  /// @param node its name there
  /// @param address where other members reach it
  record OfCluster(String name, String node, String address) {
    private String words() {
      return "member %s of cluster %s at %s".formatted(node, name, address);
    }
  }

  /// A door.
  ///
  /// @param door its name among the settings
  /// @param address where it listens
  record OfDoor(String door, String address) {}

  /// Publication of the KV events of one space.
  ///
  /// @param replayPort null if replay is off
  record KvEvents(String space, String topic, int port, @Nullable Integer replayPort) {
    static KvEvents of(String space, KvEventsPublisher publisher) {
      OptionalInt replay = publisher.replayPort();
      return new KvEvents(space, publisher.topic(), publisher.port(),
          replay.isPresent() ? (Integer) replay.getAsInt() : null);
    }

    private List<Integer> ports() {
      return replayPort == null ? List.of(port) : List.of(port, replayPort);
    }

    /// `5557, replay on port 5558`.
    private String words() {
      return port + (replayPort == null ? "" : ", replay on port " + replayPort);
    }
  }

  static Ready of(Node node, NodeConfig config) {
    boolean hasAdmin = node.adminPort().isPresent();
    List<SpaceSettings> several = config.spaces();
    CacheSpace space = several.isEmpty() ? config.space() : several.getFirst().space();
    return new Ready(config.get(NodeSettings.LISTEN_HOST), node.port(), node.transports(),
        node.endpoints().stream().map(Endpoint::toString).toList(),
        hasAdmin ? config.get(AdminSettings.HOST) : null,
        hasAdmin ? (Integer) node.adminPort().getAsInt() : null,
        hasAdmin && config.get(SecuritySettings.TLS_CERT).isPresent(),
        node.kvEvents().stream().limit(1).flatMap(each -> each.ports().stream()).toList(), node.kvEvents(),
        space.model(),
        space.publicId(),
        LayoutSettings.words(space), space.layout().blockBytes(),
        several.isEmpty() ? null : several.stream().map(SpaceSettings::words).toList(),
        config.rank()
            .map(rank -> OfRank.of(rank, RankSettings.registry(config)))
            .orElse(null),
        node.cluster(), node.doors().stream().map(each -> new OfDoor(each.door(), each.address())).toList(),
        ProcessHandle.current().pid());
  }

  /// Text for people: a line, one for the rank, one for the cluster, and one for each space.
  String sentence() {
    return "serving on " + transports.stream().filter(TransportState::works).map(TransportState::address)
        .collect(Collectors.joining(", "))
        + reached()
        + (adminHost == null || adminPort == null
            ? ""
            : ", admin on " + (adminTls ? "https" : "http") + "://" + InternetAddress.text(adminHost, adminPort))
        + doors.stream().map(each -> ", " + each.door() + " on " + each.address()).collect(Collectors.joining())
        + (kvEvents.size() == 1 ? ", KV events on port " + kvEvents.getFirst().words() : "")
        + (rank == null ? "" : "\n" + rank.words())
        + (cluster == null ? "" : "\n" + cluster.words())
        + "\n" + (spaces == null ? "blocks of " + model + ": " + layout : String.join("\n", spaces))
        + (kvEvents.size() < 2
            ? ""
            : kvEvents.stream().map(each -> "\nKV events of %s on port %s, topic %s".formatted(each.space(),
                each.words(), each.topic())).collect(Collectors.joining()));
  }

  /// Endpoint for others, if it differs from the address where the node listens.
  private String reached() {
    List<String> listening = transports.stream().map(TransportState::address).toList();
    String others =
        endpoints.stream().filter(place -> !listening.contains(place)).collect(Collectors.joining(", "));
    return others.isEmpty() ? "" : ", reached at " + others;
  }

  /// Removes `file` unless another node has written it since.
  void remove(Path file) throws IOException {
    if (Files.isRegularFile(file) && Files.readString(file).equals(line())) {
      Files.delete(file);
    }
  }

  /// Removes the file of an earlier node, before anything that may fail: it says nothing of this start. One that cannot
  /// be removed cannot be written either, which is refused with its reason later.
  static void forget(Path file) {
    try {
      if (Files.isRegularFile(file)) {
        Files.delete(file);
      }
    } catch (IOException e) {
      LOG.debug("--ready-file {} cannot be removed", file, e);
    }
  }

  private String line() {
    return Json.of(this) + "\n";
  }

  /// Writes the line in one step: a reader sees all of it or the file before.
  void write(Path file) throws IOException {
    Path whole = file.toAbsolutePath();
    Path part = whole.resolveSibling(whole.getFileName() + ".part");
    Files.writeString(part, line());
    Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
