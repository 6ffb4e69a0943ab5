package io.penstock.examples.disaggregated;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/// Starts the nodes of a story.
interface Nodes extends AutoCloseable {
  /// A node, and the ports of its ranks if it is a prefill.
  record Started(Peer peer, List<Integer> ports) {}

  Started prefill() throws IOException;

  Started decode() throws IOException;

  @Override
  void close();

  /// Each node is a process.
  ///
  /// @param args of the story
  static Nodes processes(List<String> args) {
    List<ChildPeer> children = new ArrayList<>();
    return new Nodes() {
      @Override
      public Started prefill() throws IOException {
        return start("prefill");
      }

      @Override
      public Started decode() throws IOException {
        return start("decode");
      }

      private Started start(String role) throws IOException {
        List<String> all = new ArrayList<>(List.of("disaggregated", "--serve", role));
        all.addAll(args);
        ChildPeer child = ChildPeer.start(all);
        children.add(child);
        return new Started(child, child.started().ports());
      }

      @Override
      public void close() {
        children.forEach(ChildPeer::close);
      }
    };
  }

  /// All nodes are in this process.
  ///
  /// @param maker stays the caller's
  static Nodes here(Setup setup, TierMaker maker, LongSupplier micros) {
    Network network = Network.create("disaggregated");
    List<Peer> peers = new ArrayList<>();
    return new Nodes() {
      @Override
      public Started prefill() {
        PrefillNode node = new PrefillNode(setup, network, maker, micros);
        peers.add(node);
        return new Started(node, node.ports());
      }

      @Override
      public Started decode() {
        DecodeNode node = new DecodeNode(setup, network, maker, micros);
        peers.add(node);
        return new Started(node, List.of());
      }

      @Override
      public void close() {
        peers.reversed().forEach(Peer::close); // a decode before the prefills that it is connected to
        network.close();
      }
    };
  }
}
