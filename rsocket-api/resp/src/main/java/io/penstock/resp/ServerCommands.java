package io.penstock.resp;

import io.penstock.PenstockVersion;
import io.penstock.node.door.DoorUses;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierStat;
import io.penstock.wire.security.Role;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Commands about the node.
final class ServerCommands {
  /// Of the commands that the door has: clients choose by it what they send.
  static final String REDIS_VERSION = "7.4.0";
  /// Databases of which CONFIG tells, as many as Redis has: tools visit each of them. SELECT takes higher numbers, too.
  private static final String SHOWN_DATABASES = "16";
  private static final Set<String> EVERY = Set.of("ALL", "DEFAULT", "EVERYTHING");

  private ServerCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    all.put("INFO", Commands.Entry.from(1, ServerCommands::info));
    atOnce(all, "CONFIG", 2, ServerCommands::config);
    atOnce(all, "COMMAND", 1, ServerCommands::command);
    atOnce(all, "CLUSTER", 2,
        (session, args) -> session.refuse("ERR This instance has cluster support disabled"));
  }

  private static void atOnce(Map<String, Commands.Entry> all, String name, int least, Command.AtOnce command) {
    all.put(name, Commands.Entry.from(least, command.command()));
  }

  private static void command(Session session, List<byte[]> args) {
    String word = args.size() == 1 ? "" : SetOptions.word(args.get(1));
    switch (word) {
      case "COUNT" -> session.replies().integer(Commands.count());
      case "DOCS" -> session.replies().map(0);
      case "INFO" -> {
        session.replies().array(args.size() - 2);
        args.stream().skip(2).forEach(name -> session.replies().nil());
      }
      case "" -> session.replies().array(0);
      default -> session.refuse(Commands.unknownPart("COMMAND", args.get(1)));
    }
  }

  private static Mono<List<TierStat>> stats(Session session) {
    return Flux.fromIterable(session.space().tiers()).concatMap(BlockTier::stat, 1).collectList();
  }

  private static void config(Session session, List<byte[]> args) {
    String word = SetOptions.word(args.get(1));
    if (word.equals("SET") && args.size() > 3) {
      session.refuse("ERR CONFIG must be CONFIG GET: the settings of the node are those of penstock serve (was SET)");
      return;
    } else if (!word.equals("GET") && !word.equals("SET")) {
      session.refuse(Commands.unknownPart("CONFIG", args.get(1)));
      return;
    } else if (args.size() < 3 || word.equals("SET")) {
      session.refuse(Commands.wrongNumber("config|" + word));
      return;
    }
    Map<String, String> known = new TreeMap<>(Map.of("save", "", "appendonly", "no", "maxmemory",
        Long.toString(session.space().memoryBytes()), "maxmemory-policy", "allkeys-lru", "databases",
        SHOWN_DATABASES, "proto-max-bulk-len",
        Integer.toString(session.house().limits().mostValue()), "maxclients",
        Integer.toString(session.house().limits().mostConnections())));
    List<Glob> names;
    try {
      names = args.subList(2, args.size()).stream()
          .map(name -> Glob.of(new String(name, StandardCharsets.ISO_8859_1))).toList();
    } catch (IllegalArgumentException e) {
      session.refuse("ERR " + e.getMessage());
      return;
    }
    known.keySet().removeIf(name -> names.stream().noneMatch(one -> one.matches(name)));
    session.replies().map(known.size());
    known.forEach((name, value) -> {
      session.replies().bulk(name);
      session.replies().bulk(value);
    });
  }

  private static void info(Session session, List<byte[]> args, Runnable done) {
    Set<String> wanted =
        args.size() > 1 ? args.stream().skip(1).map(SetOptions::word).collect(Collectors.toSet()) : EVERY;
    Mono<List<KeyCounts.Count>> keys = isWanted("KEYSPACE", wanted) ? keys(session) : Mono.just(List.of());
    session.await(stats(session).zipWith(keys, Facts::new), facts -> session.replies().verbatim(
        facts == null ? "" : text(session, wanted, facts)), done);
  }

  /// What takes a moment to find out.
  private record Facts(List<TierStat> stats, List<KeyCounts.Count> keys) {}

  /// Counts off the event loop; none for a user who reads nothing here.
  private static Mono<List<KeyCounts.Count>> keys(Session session) {
    return session.may(Role.READER)
        ? Mono.fromSupplier(() -> KeyCounts.of(session))
            .subscribeOn(session.house().terms().threads().decisions())
        : Mono.just(List.of());
  }

  private static boolean isWanted(String section, Set<String> wanted) {
    return wanted.contains(section.toUpperCase(Locale.ROOT)) || EVERY.stream().anyMatch(wanted::contains);
  }

  private static String text(Session session, Set<String> wanted, Facts found) {
    StringBuilder text = new StringBuilder();
    sections(session, found).forEach((name, facts) -> {
      if (isWanted(name, wanted)) {
        text.append(text.isEmpty() ? "" : "\r\n").append("# ").append(name).append("\r\n");
        facts.forEach((key, value) -> text.append(key).append(':').append(value).append("\r\n"));
      }
    });
    return text.toString();
  }

  /// What the values of the space of `session` take, and may take.
  private static Map<String, Object> memory(Session session, List<TierStat> stats) {
    long used = 0;
    long usedOnDisk = 0;
    long mostOnDisk = 0;
    for (int i = 0; i < stats.size(); i++) {
      TierStat stat = stats.get(i);
      long block = session.space().tiers().get(i).info().space().layout().blockBytes();
      if (stat.levels().isEmpty()) {
        used += stat.claimedBytes();
      }
      for (TierStat.Level level : stat.levels()) {
        boolean isDisk = level.medium() == Medium.DISK;
        usedOnDisk += isDisk ? level.storedBlocks() * block : 0;
        mostOnDisk += isDisk ? level.capacityBlocks() * block : 0;
        used += isDisk ? 0 : level.storedBlocks() * block;
      }
    }
    return facts("used_memory", used, "maxmemory", session.space().memoryBytes(), "maxmemory_policy", "allkeys-lru",
        "penstock_disk_bytes", usedOnDisk, "penstock_disk_most_bytes", mostOnDisk);
  }

  private static Map<String, Map<String, Object>> sections(Session session, Facts found) {
    RespHouse house = session.house();
    Map<String, Map<String, Object>> all = new LinkedHashMap<>();
    long seconds = TimeUnit.NANOSECONDS.toSeconds(house.uptimeNanos());
    all.put("Server", facts("redis_version", REDIS_VERSION, "redis_mode", "standalone", "server_name", "penstock",
        "penstock_version", PenstockVersion.current(), "penstock_boot", house.bootToken(), "run_id",
        house.bootToken().repeat(3).substring(0, 40), "process_id", ProcessHandle.current().pid(),
        "uptime_in_seconds", seconds));
    all.put("Clients", facts("connected_clients", house.connected(), "maxclients", house.limits().mostConnections(),
        "blocked_clients", 0));
    all.put("Memory", memory(session, found.stats));
    DoorUses.Figures used = session.use().figures();
    all.put("Stats", facts("total_connections_received", house.accepted(), "total_commands_processed",
        house.requests(), "keyspace_hits", used.hits(),
        "keyspace_misses", used.misses(), "total_net_input_bytes", used.bytesIn(), "total_net_output_bytes",
        used.bytesOut(), "penstock_writes", used.writes(), "penstock_drops", used.drops(), "penstock_damages",
        used.damages(), "penstock_aborts", used.aborts(), "penstock_names", session.values().count(),
        "penstock_names_complete", session.values().isComplete() ? 1 : 0));
    all.put("Replication", facts("role", "master", "connected_slaves", 0));
    all.put("Cluster", facts("cluster_enabled", 0));
    Map<String, Object> keys = new LinkedHashMap<>();
    found.keys.forEach(count -> keys.put("db" + count.database(), "keys=" + count.keys() + ",expires=" + count.ending()
        + ",avg_ttl=" + count.meanLeftMillis()));
    all.put("Keyspace", keys);
    return all;
  }

  private static Map<String, Object> facts(Object... pairs) {
    Map<String, Object> facts = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      facts.put(pairs[i].toString(), pairs[i + 1]);
    }
    return facts;
  }
}
