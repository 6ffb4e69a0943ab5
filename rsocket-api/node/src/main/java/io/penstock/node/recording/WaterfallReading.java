package io.penstock.node.recording;

import io.penstock.block.BlockKey;
import io.penstock.node.play.FlowFamily;
import io.penstock.node.play.RecordedBits;
import io.penstock.node.play.TurnTime;
import io.penstock.node.recording.Waterfall.Bar;
import io.penstock.node.recording.Waterfall.Lane;
import io.penstock.node.recording.Waterfall.Stretch;
import io.penstock.node.text.Json;
import io.penstock.node.text.Plural;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Collects the waterfall of one request. Reads the events of a recording in order, from its beginning.
final class WaterfallReading implements Recordings.Visitor {
  private final long lease;
  private final FlowFamily family = new FlowFamily();
  private final TurnTime time = new TurnTime();
  private final Map<Integer, List<String>> stores = new HashMap<>();
  private final List<Bar> bars = new ArrayList<>();
  private final Map<Object, Open> open = new LinkedHashMap<>();
  private final Map<Long, Long> demand = new HashMap<>();
  private final List<Stretch> owed = new ArrayList<>();
  private final List<Stretch> reads = new ArrayList<>();
  private final List<Stretch> puts = new ArrayList<>();
  private final Map<Long, Integer> windows = new HashMap<>();
  private Set<BlockKey> keys = Set.of();
  private long requests;
  private long request = -1;
  private long event;
  private int tier;
  private long began = -1;
  private long now;
  private long last;
  private long owedSince = -1;
  private long hits;
  private boolean over;

  /// A bar that has not ended.
  private static final class Open {
    private final Lane lane;
    private final String name;
    private final long start;
    private final String note;
    private final List<Long> marks = new ArrayList<>();

    Open(Lane lane, String name, long start, String note) {
      this.lane = lane;
      this.name = name;
      this.start = start;
      this.note = note;
    }
  }

  private record Operation(long store, long number) {}

  /// Room for blocks of the request.
  private record Filling(long flow) {}

  /// @param lease flow of the lease
  WaterfallReading(long lease) {
    this.lease = lease;
  }

  @Override
  public void visit(long number, RecordedEvent each) {
    long since = time.of(each);
    family.add(each);
    if (each.kind() == Kind.OPENED) {
      stores.put(each.tier(), names(each.text()));
    }
    boolean leases = each.kind() == Kind.LEASE || each.kind() == Kind.READ;
    if (leases && each.flow() == lease && began < 0) {
      began = since;
      request = requests;
      event = number;
      tier = each.tier();
      keys = new HashSet<>(each.keys());
    }
    requests += leases ? 1 : 0;
    if (began < 0 || over || each.tier() != tier) {
      return;
    }
    now = since - began;
    if (each.flow() != 0 && family.eldest(each.flow()) == lease) {
      own(each);
    } else if (each.keys().stream().anyMatch(keys::contains) || isPart(each)) {
      beside(each);
    }
  }

  private static List<String> names(String words) {
    List<String> names = new ArrayList<>();
    try {
      for (JsonNode store : words.isEmpty() ? List.<JsonNode>of() : Json.MAPPER.readTree(words).path("stores")) {
        names.add(store.path("name").asString(""));
      }
    } catch (JacksonException e) {
      return List.of(); // the tier of another program
    }
    return names;
  }

  private String store(RecordedEvent operation) {
    List<String> names = stores.getOrDefault(tier, List.of());
    int store = (int) operation.number(0);
    return store < names.size() ? names.get(store) : "store " + store;
  }

  /// Takes an event of the request's own flows.
  private void own(RecordedEvent each) {
    long flow = each.flow();
    switch (each.kind()) {
      case LEASE, READ -> {
        open.put(flow, new Open(Lane.LEASE, "lease", now, Plural.of(each.keys().size(), "block")));
        demand(flow, 1);
      }
      case LEASED -> {
        RecordedBits bits = RecordedBits.of(each, 0);
        for (int i = 0; i < keys.size(); i++) {
          hits += bits.has(RecordedBits.HITS, i) ? 1 : 0;
        }
        end(flow);
        demand(flow, -1);
        last = now;
      }
      case SLICES -> open.put(flow, new Open(Lane.SLICES, "slices of window " + windows.getOrDefault(each.number(0), 0),
          now, ""));
      case BLOCKS -> {
        open.put(flow, new Open(Lane.SLICES, "blocks of window " + windows.getOrDefault(each.number(0), 0), now, ""));
        demand(flow, 1);
      }
      case WINDOWS -> open.put(flow, new Open(Lane.SLICES, "blocks", now, ""));
      case REQUEST -> demand(flow, each.number(0));
      case WINDOW -> {
        windows.put(each.number(0), windows.size());
        open.put(each.number(0), new Open(Lane.WINDOW, "window " + windows.get(each.number(0)), now,
            Plural.of(each.number(1), "block")));
        demand(flow, -1);
        last = now;
      }
      case SLICE, BLOCK_LIST -> {
        Open stream = open.get(flow);
        if (stream != null) {
          stream.marks.add(now);
        }
        demand(flow, -1);
        last = now;
      }
      case ENDED, FAILED, CANCEL -> {
        end(flow);
        demand.remove(flow);
        owe();
      }
      case CLOSE -> {
        end(flow);
        over |= flow == lease;
      }
      default -> {
        // No time passes between
      }
    }
  }

  private void demand(long flow, long change) {
    long before = demand.getOrDefault(flow, 0L);
    demand.put(flow, before + change < 0 && change > 0 ? Long.MAX_VALUE : Math.max(0, before + change));
    owe();
  }

  /// Notes whether the tier owes something from now on.
  private void owe() {
    boolean owes = demand.values().stream().anyMatch(each -> each > 0);
    if (owes && owedSince < 0) {
      owedSince = now;
    } else if (!owes && owedSince >= 0) {
      owed.add(new Stretch(owedSince, now));
      owedSince = -1;
    }
  }

  private boolean isPart(RecordedEvent each) {
    return switch (each.kind()) {
      case STORE_DONE, STORE_FAILED -> open.containsKey(new Operation(each.number(0), each.number(1)));
      case COMMIT -> open.containsKey(new Filling(each.number(0)));
      case RESERVED, RECEIPTS, CLOSE, ENDED, FAILED -> open.containsKey(each.flow())
          || open.containsKey(new Filling(each.flow()));
      default -> false;
    };
  }

  /// Takes an event of another flow about blocks of the request.
  private void beside(RecordedEvent each) {
    switch (each.kind()) {
      case STORE_READ -> open.put(new Operation(each.number(0), each.number(1)), new Open(Lane.READ,
          store(each) + " read", now, blocks(each)));
      case STORE_PUT -> open.put(new Operation(each.number(0), each.number(1)), new Open(Lane.WRITE,
          store(each) + " write", now, blocks(each)));
      case STORE_DONE, STORE_FAILED -> end(new Operation(each.number(0), each.number(1)));
      case RESERVE -> open.put(each.flow(), new Open(Lane.PUT, "room for a put", now, blocks(each)));
      case RESERVED -> {
        end(each.flow());
        if (!each.keys().isEmpty()) {
          open.put(new Filling(each.flow()), new Open(Lane.PUT, "put is filled", now, blocks(each)));
        }
      }
      case COMMIT -> {
        end(new Filling(each.number(0)));
        open.put(each.flow(), new Open(Lane.PUT, "commit", now, ""));
      }
      case RECEIPTS, ENDED, FAILED -> end(each.flow());
      case CLOSE -> end(new Filling(each.flow()));
      default -> {
        // A decision
      }
    }
  }

  private String blocks(RecordedEvent each) {
    long of = each.keys().stream().filter(keys::contains).count();
    return of == each.keys().size()
        ? Plural.of(of, "block")
        : "%d of %s".formatted(of, Plural.of(each.keys().size(), "block"));
  }

  private void end(Object what) {
    Open ended = open.remove(what);
    if (ended != null) {
      add(ended);
    }
  }

  private void add(Open ended) {
    int elements = ended.marks.size();
    bars.add(new Bar(ended.lane, ended.name, ended.start, now,
        elements == 0 ? ended.note : Plural.of(elements, "element"), ended.marks));
    if (ended.lane == Lane.READ) {
      reads.add(new Stretch(ended.start, now));
    } else if (ended.lane == Lane.PUT) {
      puts.add(new Stretch(ended.start, now));
    }
  }

  /// The waterfall; null if the recording does not have the request.
  @Nullable Waterfall waterfall(String recording) {
    if (began < 0) {
      return null;
    }
    long end = last;
    now = Math.max(now, end);
    open.values().forEach(this::add);
    if (owedSince >= 0) {
      owed.add(new Stretch(owedSince, now));
    }
    return new Waterfall(recording, request, lease, event, keys.size(), hits, end,
        Waterfall.waits(end, owed, reads, puts), Waterfall.ordered(bars, end));
  }
}
