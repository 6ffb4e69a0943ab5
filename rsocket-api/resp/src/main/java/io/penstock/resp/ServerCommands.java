package io.penstock.resp;

import io.penstock.PenstockVersion;
import io.penstock.node.door.DoorUses;
import io.penstock.tier.BlockTier;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/// Commands about the node.
final class ServerCommands {
  /// Of the commands that the door has: clients choose by it what they send.
  static final String REDIS_VERSION = "7.4.0";
  private static final Set<String> EVERY = Set.of("ALL", "DEFAULT", "EVERYTHING");

  private ServerCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    atOnce(all, "INFO", 1, ServerCommands::info);
    atOnce(all, "CONFIG", 2, ServerCommands::config);
    atOnce(all, "COMMAND", 1, ServerCommands::command);
    atOnce(all, "CLUSTER", 1,
        (session, args) -> session.refuse("ERR This instance has cluster support disabled"));
  }

  private static void atOnce(Map<String, Commands.Entry> all, String name, int least, Command.AtOnce command) {
    all.put(name, new Commands.Entry(least, command.command()));
  }

  private static void command(Session session, List<byte[]> args) {
    if (args.size() > 1 && SetOptions.word(args.get(1)).equals("COUNT")) {
      session.replies().integer(Commands.count());
    } else {
      session.replies().array(0);
    }
  }

  private static void config(Session session, List<byte[]> args) {
    if (!SetOptions.word(args.get(1)).equals("GET") || args.size() < 3) {
      session.refuse("ERR CONFIG must be CONFIG GET; the settings of the node are those of penstock serve");
      return;
    }
    Map<String, String> known = new TreeMap<>(Map.of("save", "", "appendonly", "no", "maxmemory", "0",
        "maxmemory-policy", "allkeys-lru", "databases", "16", "proto-max-bulk-len",
        Integer.toString(session.house().limits().mostValue()), "maxclients",
        Integer.toString(session.house().limits().mostConnections())));
    Glob names;
    try {
      names = Glob.of(new String(args.get(2), StandardCharsets.ISO_8859_1));
    } catch (IllegalArgumentException e) {
      session.refuse("ERR " + e.getMessage());
      return;
    }
    known.keySet().removeIf(name -> !names.matches(name));
    session.replies().map(known.size());
    known.forEach((name, value) -> {
      session.replies().bulk(name);
      session.replies().bulk(value);
    });
  }

  private static void info(Session session, List<byte[]> args) {
    String wanted = args.size() > 1 ? SetOptions.word(args.get(1)) : "ALL";
    StringBuilder text = new StringBuilder();
    sections(session).forEach((name, facts) -> {
      if (EVERY.contains(wanted) || name.equalsIgnoreCase(wanted)) {
        text.append(text.isEmpty() ? "" : "\r\n").append("# ").append(name).append("\r\n");
        facts.forEach((key, value) -> text.append(key).append(':').append(value).append("\r\n"));
      }
    });
    session.replies().bulk(text.toString());
  }

  private static Map<String, Map<String, Object>> sections(Session session) {
    RespHouse house = session.house();
    Map<String, Map<String, Object>> all = new LinkedHashMap<>();
    long seconds = TimeUnit.NANOSECONDS.toSeconds(house.uptimeNanos());
    all.put("Server", facts("redis_version", REDIS_VERSION, "redis_mode", "standalone", "server_name", "penstock",
        "penstock_version", PenstockVersion.current(), "penstock_boot", house.bootToken(), "run_id",
        house.bootToken().repeat(3).substring(0, 40), "process_id", ProcessHandle.current().pid(),
        "uptime_in_seconds", seconds));
    long capacity = 0;
    for (BlockTier tier : session.space().tiers()) {
      capacity += tier.info().capacityBlocks() * tier.info().space().layout().blockBytes();
    }
    all.put("Memory", facts("maxmemory", capacity, "maxmemory_policy", "allkeys-lru"));
    DoorUses.Figures used = session.use().figures();
    all.put("Stats", facts("total_connections_received", house.accepted(), "keyspace_hits", used.hits(),
        "keyspace_misses", used.misses(), "total_net_input_bytes", used.bytesIn(), "total_net_output_bytes",
        used.bytesOut(), "penstock_writes", used.writes(), "penstock_drops", used.drops(), "penstock_damages",
        used.damages(), "penstock_aborts", used.aborts(), "penstock_names", session.values().count(),
        "penstock_names_complete", session.values().isComplete() ? 1 : 0));
    all.put("Replication", facts("role", "master", "connected_slaves", 0));
    all.put("Cluster", facts("cluster_enabled", 0));
    all.put("Keyspace", session.values().count() == 0
        ? facts()
        : facts("db" + session.database(), "keys=" + session.values().count() + ",expires=0,avg_ttl=0"));
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
