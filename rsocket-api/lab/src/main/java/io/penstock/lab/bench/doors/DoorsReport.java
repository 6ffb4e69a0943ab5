package io.penstock.lab.bench.doors;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Result of `bench doors`: medians of the rounds.
///
/// @param penstock version
/// @param loops network threads of the node
/// @param warmUpSeconds before the first row
/// @param seconds of each turn
/// @param waits of readers, at each server; empty if they were not measured
record DoorsReport(String penstock, int loops, double warmUpSeconds, double seconds, int rounds,
    List<Row> rows, List<Wait> waits)
    implements
      Bench.Report {
  private static final double MEGA = 1e6;
  private static final double KILO = 1e3;

  /// @param valueBytes 0 for a question
  /// @param perSecond requests at the node
  /// @param redisPerSecond requests at the Redis server; null without one
  /// @param ratio of both, the median of the rounds; null without one
  /// @param cpu of a request at the node
  /// @param redisCpu of a request at the Redis server; null without one
  record Row(DoorLoad.Kind kind, int valueBytes, int clients, double perSecond, @Nullable Double redisPerSecond,
      @Nullable Double ratio, Cpu cpu, @Nullable Cpu redisCpu) {
    static Row of(DoorLoad.Kind kind, int valueBytes, int clients, Turns ours, @Nullable Turns theirs) {
      if (theirs == null) {
        return new Row(kind, valueBytes, clients, median(ours.perSecond), null, null, ours.cpu(), null);
      }
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < theirs.perSecond.size(); i++) {
        ratios.add(ours.perSecond.get(i) / theirs.perSecond.get(i));
      }
      return new Row(kind, valueBytes, clients, median(ours.perSecond), median(theirs.perSecond), median(ratios),
          ours.cpu(), theirs.cpu());
    }

    private static double median(List<Double> all) {
      List<Double> sorted = all.stream().sorted().toList();
      return (sorted.get((all.size() - 1) / 2) + sorted.get(all.size() / 2)) / 2;
    }

    private String rate(@Nullable Double each) {
      return each == null
          ? "-"
          : valueBytes == 0
              ? String.format(Locale.ROOT, "%,.0f /s", each)
              : String.format(Locale.ROOT, "%,.0f MB/s", each * valueBytes / MEGA);
    }

    private String cost(@Nullable Cpu each) {
      return each == null
          ? "-"
          : valueBytes == 0
              ? String.format(Locale.ROOT, "%.0f + %.0f us", each.serverMicros, each.clientMicros)
              : String.format(Locale.ROOT, "%.2f + %.2f s/GB", each.serverMicros * KILO / valueBytes,
                  each.clientMicros * KILO / valueBytes);
    }
  }

  /// CPU time of a request, over all rounds.
  ///
  /// @param serverMicros at the server
  /// @param clientMicros at the clients, which compare every byte
  record Cpu(double serverMicros, double clientMicros) {}

  /// What the rounds of one server gave.
  static final class Turns {
    private final List<Double> perSecond = new ArrayList<>();
    private double requests;
    private long serverNanos;
    private long clientNanos;

    void add(double rate, double seconds, long server, long client) {
      perSecond.add(rate);
      requests += rate * seconds;
      serverNanos += server;
      clientNanos += client;
    }

    private Cpu cpu() {
      return new Cpu(serverNanos / KILO / requests, clientNanos / KILO / requests);
    }
  }

  /// 99 of 100 reads of one client took no longer, medians of the rounds.
  ///
  /// @param server `node` or `redis`
  /// @param writers connections that stored values of this length at full rate
  /// @param aloneMicros without them
  /// @param besideMicros beside them
  /// @param ratio of both, the median of the rounds
  /// @param writtenPerSecond values that the writers stored beside the reader
  record Wait(String server, int valueBytes, int writers, double aloneMicros, double besideMicros, double ratio,
      double writtenPerSecond) {
    static Wait of(String server, int valueBytes, int writers, List<Double> alone, List<Double> beside,
        List<Double> written) {
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < alone.size(); i++) {
        ratios.add(beside.get(i) / alone.get(i));
      }
      return new Wait(server, valueBytes, writers, Row.median(alone), Row.median(beside), Row.median(ratios),
          Row.median(written));
    }
  }

  @Override
  public String table() {
    TextTable table = new TextTable("REQUEST", "VALUE", "CLIENTS", "PENSTOCK", "REDIS", "RATIO",
        "CPU: NODE + CLIENTS", "REDIS + CLIENTS");
    rows.forEach(row -> table.row(row.kind, row.valueBytes == 0 ? "-" : Sizes.exact(row.valueBytes), row.clients,
        row.rate(row.perSecond), row.rate(row.redisPerSecond),
        row.ratio == null ? "-" : String.format(Locale.ROOT, "%.2f", row.ratio), row.cost(row.cpu),
        row.cost(row.redisCpu)));
    return table + "\n" + (waits.isEmpty() ? "" : waitTable() + "\n") + String.format(Locale.ROOT,
        "RATIO is that of Penstock to Redis%s; medians of %s of %.1f s each by turns, and of their ratios,"
            + "%nafter a warm-up of %.1f s: a JVM that is not warm is slow. %s of the node%n",
        waits.isEmpty() ? "" : ", or of the waits beside writers to those alone", Plural.of(rounds, "round"), seconds,
        warmUpSeconds, Plural.of(loops, "network thread"));
  }

  private TextTable waitTable() {
    TextTable table = new TextTable("GET P99", "VALUE", "WRITERS", "ALONE", "BESIDE WRITERS", "RATIO", "WRITTEN");
    waits.forEach(
        wait -> table.row(wait.server.equals("node") ? "Penstock" : "Redis", Sizes.exact(wait.valueBytes), wait.writers,
            String.format(Locale.ROOT, "%,.0f us", wait.aloneMicros),
            String.format(Locale.ROOT, "%,.0f us", wait.besideMicros), String.format(Locale.ROOT, "%.2f", wait.ratio),
            String.format(Locale.ROOT, "%,.0f MB/s", wait.writtenPerSecond * wait.valueBytes / MEGA)));
    return table;
  }
}
