package io.penstock.resp;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.Door;
import io.penstock.node.door.DoorKind;
import io.penstock.node.door.DoorTerms;
import reactor.core.publisher.Mono;

/// The door of Redis' protocol.
public final class RespDoor implements DoorKind {
  @Override
  public String name() {
    return DoorSettings.RESP.name();
  }

  @Override
  public Mono<Door> open(DoorTerms terms) {
    return RespServer.listen(new RespHouse(terms)).cast(Door.class);
  }
}
