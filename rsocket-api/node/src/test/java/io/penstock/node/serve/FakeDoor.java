package io.penstock.node.serve;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.Door;
import io.penstock.node.door.DoorKind;
import io.penstock.node.door.DoorTerms;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.publisher.Mono;

/// A door without a protocol: the test itself goes in and out. One at a socket `….refused` cannot be opened.
public final class FakeDoor implements DoorKind {
  static final List<Opened> OPENED = new CopyOnWriteArrayList<>();

  /// A door that was opened.
  static final class Opened implements Door {
    final DoorTerms terms;
    final List<String> calls = new CopyOnWriteArrayList<>();

    Opened(DoorTerms terms) {
      this.terms = terms;
    }

    @Override
    public Endpoint address() {
      return Endpoint.tcp("127.0.0.1", 6379);
    }

    @Override
    public int connections() {
      return 3;
    }

    @Override
    public Mono<Void> drain() {
      return Mono.fromRunnable(() -> calls.add("drain"));
    }

    @Override
    public Mono<Void> close() {
      return terms.spaces().of().values().length("a").then(Mono.fromRunnable(() -> calls.add("close")));
    }
  }

  @Override
  public String name() {
    return "resp";
  }

  @Override
  public Mono<Door> open(DoorTerms terms) {
    return Mono.defer(() -> {
      if (terms.config().effective(DoorSettings.RESP.listen()).text().endsWith(".refused")) {
        return Mono.error(new IOException("the socket is not wanted"));
      }
      Opened door = new Opened(terms);
      OPENED.add(door);
      return Mono.just(door);
    });
  }
}
