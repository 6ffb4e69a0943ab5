package io.penstock.lab.attack;

import io.penstock.wire.protocol.Routes;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import picocli.CommandLine.ITypeConverter;

/// The kinds of attack, each of which stopped a node for others once.
enum AttackKind {
  COLLIDING_KEYS("questions about many keys that differ in four bytes only") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      List<String> routes = List.of(Routes.EXISTS, Routes.MATCH, Routes.REMOVE);
      return Requests.of(attackers, new Requests.Plan(2, 1, LONG), (stream, limits) -> Frames.ask(stream,
          routes.get(random.nextInt(routes.size())),
          Messages.keys(target, Target.colliding(limits.maxKeys(), random))));
    }
  },
  IDLE_GETS("64 streams of blocks whose reader asks for two slices and falls silent") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(4, 16, LONG), (stream, limits) -> Frames.stream(stream,
          Routes.GET, Messages.get(target, target.known(limits.maxKeys()), "SKIP", limits), 2));
    }
  },
  CROWDED_GETS("30 connections with 300 idle streams of blocks each") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(30, 300, LONG), (stream, limits) -> Frames.stream(stream,
          Routes.GET, Messages.get(target, target.known(random.nextInt(1, FEW_KEYS)), "SKIP", limits), 1));
    }
  },
  SLOW_GETS("streams of blocks that are given up after a second, 40 a second: each is slow enough for the log") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(4, 12, Duration.ofMillis(1_200)),
          (stream, limits) -> Frames.stream(stream, Routes.GET,
              Messages.get(target, target.known(FEW_KEYS), "SKIP", limits), 1));
    }
  },
  UNREAD_GETS("16 streams of blocks whose reader asks for all and takes nothing from its socket") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(4, 4, LONG, true), (stream, limits) -> Frames.stream(stream,
          Routes.GET, Messages.get(target, target.known(limits.maxKeys()), "SKIP", limits), Integer.MAX_VALUE));
    }
  },
  IDLE_PUTS("16 puts at a time whose sender falls silent, again and again") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(4, 4, Duration.ofMillis(500)),
          (stream, limits) -> Frames.channel(stream, Routes.PUT,
              Messages.put(target, Target.unknown(Math.min(limits.maxKeys(), SOME_KEYS), random), limits),
              Integer.MAX_VALUE));
    }
  },
  SILENT_PUTS("64 puts of 16 connections, whose sender sends nothing") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return puts(attackers, target, random, 0);
    }
  },
  STUCK_PUTS("64 puts of 16 connections, whose sender falls silent after the first row of the first block") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return puts(attackers, target, random, 1);
    }
  },
  TRICKLING_PUTS("64 puts of 16 connections, whose sender sends one row of the first block every two seconds") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return puts(attackers, target, random, Integer.MAX_VALUE);
    }
  },
  NESTED_TAGS("messages of 400 kB that are tags within tags, four at a time") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(4, 1, Duration.ofSeconds(1)),
          (stream, limits) -> Frames.ask(stream, Routes.EXISTS, Messages.nestedTags(NESTED)));
    }
  },
  REGISTRY_STRANGERS("registrations of ranks of others, of names with escape sequences, and of thousands of ranks") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return new RegistryStrangers(attackers, target, random);
    }
  },
  HELLO_PROBES("offers of shared memory of other processes, at network ports") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return new HelloProbes(attackers, random);
    }
  },
  DOORS("WebSockets of foreign origins, foreign names for the admin endpoints, and slow connections to them") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return new Doors(attackers);
    }
  },
  UNKNOWN_ADMITS("gets that admit 16 times as many unknown keys as the node keeps blocks") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(4, 2, Duration.ofMillis(500)),
          (stream, limits) -> Frames.stream(stream, Routes.GET, Messages.get(target,
              Target.unknown(target.timesCapacity(2, limits.maxKeys()), random), "ADMIT", limits), 1));
    }
  },
  KEY_FLOODS("10 gets at a time that admit as many unknown keys as a request may have") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(2, 5, Duration.ofSeconds(1)),
          (stream, limits) -> Frames.stream(stream, Routes.GET,
              Messages.get(target, Target.unknown(limits.maxKeys(), random), "ADMIT", limits), 1));
    }
  },
  IDLE_EVENTS("1,024 streams of events whose reader asks for one and falls silent") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return Requests.of(attackers, new Requests.Plan(16, 64, LONG),
          (stream, limits) -> Frames.stream(stream, Routes.EVENTS, Map.of("after", 0), 1));
    }
  },
  UNFINISHED_FRAMES("200 connections with 15 MB of a frame that never ends, half of them before SETUP") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return new LongFrames(attackers);
    }
  },
  IDLE_CONNECTIONS("1,024 connections without SETUP, or with one that promises silence for weeks") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return new IdleConnections(attackers);
    }
  },
  BAD_FRAMES("random bytes, damaged frames, streams that are none, slices that were not asked for") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return new BadFrames(attackers, target, random);
    }
  },
  MIX("up to three of the others at a time; a new draw every second") {
    @Override
    Attack on(Attackers attackers, Target target, RandomGenerator random) {
      return new Mix(attackers, Arrays.stream(values()).filter(kind -> kind != MIX)
          .<Supplier<Attack>>map(kind -> () -> kind.on(attackers, target, random)).toList(), random);
    }
  };

  /// Longer than any run.
  private static final Duration LONG = Duration.ofDays(1);
  private static final int SOME_KEYS = 1024;
  private static final int FEW_KEYS = 32;
  private static final int NESTED = 400_000;

  private final String description;

  AttackKind(String description) {
    this.description = description;
  }

  /// A few words about the work of the attackers.
  String description() {
    return description;
  }

  /// Puts whose sender sends `most` rows slowly.
  private static Attack puts(Attackers attackers, Target target, RandomGenerator random, int most) {
    return new Requests(attackers, new Requests.Plan(16, 4, LONG), (peer, limits) -> {
      byte[] hashes = Target.unknown(Math.min(limits.maxKeys(), SOME_KEYS), random);
      peer.ask((stream, same) -> Frames.channel(stream, Routes.PUT, Messages.put(target, hashes, same),
          Integer.MAX_VALUE), limits);
      peer.thenSlowly(stream -> RowSlices.frames(stream, target, hashes).limit(most).iterator());
    });
  }

  /// Spelling in options and reports.
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /// An attack of this kind.
  abstract Attack on(Attackers attackers, Target target, RandomGenerator random);

  /// Converter for the command line.
  static final class Converter implements ITypeConverter<AttackKind> {
    @Override
    public AttackKind convert(String text) {
      return Arrays.stream(values()).filter(kind -> kind.word().equals(text)).findFirst()
          .orElseThrow(
              () -> new IllegalArgumentException("a kind of attack must be one of " + words() + " (was " + text + ")"));
    }
  }

  static String words() {
    return String.join(", ", Arrays.stream(values()).map(AttackKind::word).toList());
  }
}
