"""Building blocks of figures: panels, strips and mosaics of images, the style, titles, and the order of latents."""
