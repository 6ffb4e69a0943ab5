package io.penstock.cluster.infinispan;

import java.security.GeneralSecurityException;
import java.util.concurrent.atomic.AtomicLong;
import org.jgroups.BytesMessage;
import org.jgroups.Message;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ByteArray;
import org.jgroups.util.FastArray;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Seals every message between members as a whole, with the headers of all protocols above: discovery, heartbeats and
/// joins too. It stands right above the transport. A message that does not open is dropped, so a stranger is answered
/// nothing. JGroups' own `SYM_ENCRYPT` leaves headers readable, and takes messages that are headers alone from anyone.
public final class SealedMessages extends Protocol {
  /// Numbers of protocols of users begin at 1024.
  private static final short PROTOCOL = 1701;
  private static final long LOGGED_EACH = 1000;
  private static final Logger LOG = LoggerFactory.getLogger(SealedMessages.class);

  static {
    ClassConfigurator.addProtocol(PROTOCOL, SealedMessages.class);
  }

  private final Seal seal;
  private final AtomicLong refused = new AtomicLong();

  SealedMessages(Seal seal) {
    this.seal = seal;
  }

  /// Messages that were dropped.
  long refused() {
    return refused.get();
  }

  @Override
  public @Nullable Object down(Message message) {
    if (message.getSrc() == null) {
      message.setSrc(local_addr);
    }
    try {
      ByteArray plain = Util.messageToBuffer(message);
      Message sealed = new BytesMessage(message.getDest(),
          seal.seal(plain.getArray(), plain.getOffset(), plain.getLength())).setSrc(message.getSrc())
          .setFlag(message.getFlags(false), false).setFlag(message.getFlags(true), true);
      return down_prot.down(sealed);
    } catch (Exception e) {
      throw new IllegalStateException("message to " + message.getDest() + " must be sealed", e);
    }
  }

  @Override
  public @Nullable Object up(Message message) {
    Message opened = open(message);
    return opened == null ? null : up_prot.up(opened);
  }

  @Override
  public void up(MessageBatch batch) {
    FastArray<Message>.FastIterator each = (FastArray<Message>.FastIterator) batch.iterator();
    while (each.hasNext()) {
      Message opened = open(each.next());
      if (opened == null) {
        each.remove();
      } else {
        each.replace(opened);
      }
    }
    if (!batch.isEmpty()) {
      up_prot.up(batch);
    }
  }

  private @Nullable Message open(Message message) {
    if (!(message instanceof BytesMessage) || !message.hasArray()) {
      return refuse(message, "it is not sealed");
    }
    byte[] plain;
    try {
      plain = seal.open(message.getArray(), message.getOffset(), message.getLength());
    } catch (GeneralSecurityException e) {
      return refuse(message, "it is not sealed with the secret of this cluster");
    }
    try {
      return Util.messageFromBuffer(plain, 0, plain.length);
    } catch (Exception e) {
      return refuse(message, "a member sealed what cannot be read: " + e);
    }
  }

  private @Nullable Message refuse(Message message, String why) {
    long count = refused.getAndIncrement();
    if (count % LOGGED_EACH == 0) {
      LOG.warn("dropped a message of {}: {} ({} dropped so far)", message.getSrc(), why, count + 1);
    }
    return null;
  }
}
