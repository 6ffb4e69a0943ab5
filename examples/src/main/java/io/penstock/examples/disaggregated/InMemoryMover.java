package io.penstock.examples.disaggregated;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import java.lang.foreign.MemorySegment;

/// Moves the cache of one request between two instances in one process, as a plan says: the reference for what moves it
/// over a network. It copies one head of one token at a time, so it depends on no other layout than those of both ends.
final class InMemoryMover {
  private final Sequence from;
  private final Sequence to;

  InMemoryMover(Sequence from, Sequence to) {
    this.from = from;
    this.to = to;
  }

  /// Copies what one rank gives to another one.
  void move(Transfer transfer) {
    move(transfer, 0, transfer.layers().count());
  }

  /// Copies some layers of it: `layers` of them from `firstLayer` on, counted inside the transfer.
  void move(Transfer transfer, int firstLayer, int layers) {
    RankCache source = from.cache(transfer.source());
    RankCache destination = to.cache(transfer.destination());
    for (TokenPiece piece : transfer.pieces()) {
      MemorySegment read = source.block(piece.sourceBlock()).memory();
      MemorySegment write = destination.block(piece.destinationBlock()).memory();
      for (int layer = firstLayer; layer < firstLayer + layers; layer++) {
        for (int plane = 0; plane < source.layout().planes().size(); plane++) {
          move(transfer, piece, layer, plane, new View(source.layout(), read), new View(destination.layout(), write));
        }
      }
    }
  }

  private static void move(Transfer transfer, TokenPiece piece, int layer, int plane, View read, View write) {
    for (int token = 0; token < piece.tokens(); token++) {
      for (int head = 0; head < transfer.heads().count(); head++) {
        MemorySegment vector = read.vector(transfer.layers().atSource() + layer, plane,
            transfer.heads().atSource() + head, piece.sourceToken() + token);
        write.vector(transfer.layers().atDestination() + layer, plane, transfer.heads().atDestination() + head,
            piece.destinationToken() + token).copyFrom(vector);
      }
    }
  }

  /// A block as its layout says.
  private record View(BlockLayout layout, MemorySegment memory) {
    MemorySegment vector(int layer, int plane, int head, int token) {
      Plane shape = layout.planes().get(plane);
      int bytes = shape.width() * shape.type().bytes();
      int row = layout.order() == TokenOrder.NHD ? token * shape.heads() + head : head * layout.tokens() + token;
      return memory.asSlice(layout.granuleOffset(layout.granule(layer, plane)) + (long) row * bytes, bytes);
    }
  }
}
